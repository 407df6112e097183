// Splits an answer of a model while it is written into thoughts, calls of tools, and text for the
// reader. It finds calls in the formats that the templates of models ask for:
//
//   <tool_call>{"name": ..., "arguments": {...}}</tool_call>       Hermes, Qwen 2.5 and 3, SmolLM3
//   <tool_call><function=NAME><parameter=KEY>value</parameter>...  Qwen 3.5
//   {"name": ..., "parameters": {...}} as the whole answer         Llama 3.1, 3.2
//   [TOOL_CALLS][{"name": ..., "arguments": {...}}, ...]           Mistral Nemo
//   <｜tool▁calls▁begin｜>...<｜tool▁calls▁end｜>                        DeepSeek
//
// Every byte of the answer is in exactly one piece. Text that begins like a call but is not one
// (not JSON, or a tool that was not offered) is text. A call that ends before it is complete is
// marked as cut.
//
// Threading: one thread. Bounds: it holds back at most the text of one possible call.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace weft::tools {

// Tokens of vocabularies that mark calls. Decoding usually leaves them out.
inline constexpr std::array<std::string_view, 8> call_marks = {
    "[TOOL_CALLS]",        "<|python_tag|>",         "<tool_call>",
    "</tool_call>",        "<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>",
    "<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>"};

// The parser's data of one offered tool.
struct Tool {
  std::map<std::string, bool> texts{};  // True, by parameter, if it takes a string.
};
using Tools = std::map<std::string, Tool>;  // Offered tools by name.
// Reads the member "tools" of a request. Fails with invalid_argument and the place of the error.
[[nodiscard]] Result<Tools> read_tools(std::string_view json);

struct Piece {
  enum class Kind : std::uint8_t { text, thought, call, cut };

  Kind kind = Kind::text;
  std::string raw;          // The bytes of the piece in the answer.
  std::string text{};       // The text for the reader: without marks and the blanks around them.
  std::string name{};       // Name of the called tool.
  std::string arguments{};  // A call's arguments, as a JSON object.

  friend bool operator==(const Piece&, const Piece&) = default;
};

class AnswerParser {
 public:
  // If `tools` is empty, only thoughts are separated from text.
  explicit AnswerParser(Tools tools) : tools_(std::move(tools)) {}

  // Returns the pieces that have become certain.
  [[nodiscard]] std::vector<Piece> push(std::string_view text);
  // Returns the remaining pieces. `whole` is true if the model ended the answer. Otherwise the
  // answer was cut off, and a call without its closing mark is incomplete.
  [[nodiscard]] std::vector<Piece> finish(bool whole);

 private:
  // The beginning of the text that is held back: nothing, possibly a call, or calls.
  struct Found {
    enum class Kind : std::uint8_t { nothing, more, calls };
    Kind kind = Kind::nothing;
    std::size_t bytes = 0;
    std::vector<Piece> calls{};  // Calls that were found; the first one has the bytes of all.
  };

  void step(std::vector<Piece>& out, bool ended, bool whole);
  [[nodiscard]] bool step_thought(std::vector<Piece>& out, bool ended);
  [[nodiscard]] bool step_text(std::vector<Piece>& out, bool ended, bool whole);
  [[nodiscard]] Found read_call(std::string_view text, bool whole) const;
  [[nodiscard]] Found read_tagged(std::string_view text, bool whole) const;
  [[nodiscard]] Found read_functions(std::string_view text, bool whole) const;
  [[nodiscard]] Found read_list(std::string_view text) const;
  [[nodiscard]] Found read_deepseek(std::string_view text) const;
  [[nodiscard]] Found read_bare(std::string_view text) const;
  [[nodiscard]] bool add_call(std::string_view json, std::vector<Piece>& calls) const;
  void say(std::vector<Piece>& out, std::size_t bytes);
  [[nodiscard]] std::size_t find_call() const;

  const Tools tools_;
  std::string held_;
  enum class Where : std::uint8_t { begin, thought, after_thought, text };
  Where where_ = Where::begin;
  bool said_ = false;  // True once there was text other than blanks.
  bool called_ = false;
};

}  // namespace weft::tools
