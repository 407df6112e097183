// What llm_web.js does for the model's Worker, and what it calls back.
//
// Text is pointer and length, valid during the call. Sizes and offsets of the model's file cross as
// double.
#pragma once

#include <cstdint>
#include <functional>

namespace weft::llm_web {

// Made with new, called once, deleted by the call.
struct TurnCallback {
  std::function<void()> call;
};

}  // namespace weft::llm_web

extern "C" {
double weft_llm_source_bytes();
// Fills `out`; null, or one sentence about what went wrong (malloc'ed, the caller frees it).
char* weft_llm_source_read(double offset, void* out, double size);
// After the messages that wait in the Worker's queue.
void weft_llm_turn(void* callback);
// The answer to call number `call`: `code` is empty for success, else an ErrorCode as a word and
// `text` its message.
void weft_llm_answer(std::uint32_t call, const char* code, std::uint32_t code_size,
                     const char* text, std::uint32_t text_size);
// One token of the answer to call number `call`, as JSON.
void weft_llm_piece(std::uint32_t call, const char* json, std::uint32_t size);
}
