// The requests of a child for texts. It reads and runs the tokenizer and the chat template of one
// stranger's model, and the parent gets plain tables, tokens and texts, which it treats as
// untrusted.
//
//   open_text    u64 bytes of the file, bytes: its head (all before the tensors' data)
//                -> u64 count, for each token: u64 flags (TokenFlag), text
//   read_prompt  u64 chat, text, u64 now, text format, text rule -> u64 begins within a thought,
//                u64 count, tokens. The answer's format is compiled and discarded
//   look_text    text what ("tokens", "text", "prompt"), u64 add_special, u64 parse_special, text,
//                u64 now, u64 count, tokens -> text, u64 count, tokens
//
// Threading: one thread.
#pragma once

#include <cstdint>
#include <memory>

#include "common/base/result.h"
#include "engine/chat/model_text.h"
#include "worker/sandbox/sandbox_wire.h"

namespace weft::worker {

enum TokenFlag : std::uint64_t {
  token_is_control = 1,    // The token has no text in an answer.
  token_ends_answer = 2,   // Ends an answer and has no text in it.
  token_marks_a_call = 4,  // Appears in an answer that may call tools.
};

class TextService {
 public:
  [[nodiscard]] Result<ByteVector> answer(const Frame& request);

 private:
  [[nodiscard]] Result<ByteVector> open(ByteSpan payload);
  [[nodiscard]] Result<ByteVector> prompt(ByteSpan payload);
  [[nodiscard]] Result<ByteVector> look(ByteSpan payload);

  std::unique_ptr<chat::ModelText> text_;
};

}  // namespace weft::worker
