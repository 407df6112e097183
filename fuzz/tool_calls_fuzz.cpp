// Fuzzes answers with tool calls: the result does not depend on how an answer is cut into parts,
// and every byte is used once.
#include "common/base/bytes.h"
#include "common/base/check.h"
#include "common/tools/answer_parser.h"

using namespace weft;

namespace {

struct Heard {
  std::string raw, text, thought, calls, cut;
  friend bool operator==(const Heard&, const Heard&) = default;
};

Heard parse(std::string_view answer, std::size_t part, bool whole) {
  tools::AnswerParser parser({{"f", {.texts = {{"a", true}}}}});
  Heard out;
  const auto add = [&out](const std::vector<tools::Piece>& pieces) {
    for (const tools::Piece& piece : pieces) {
      out.raw += piece.raw;
      if (piece.kind == tools::Piece::Kind::text) out.text += piece.text;
      if (piece.kind == tools::Piece::Kind::thought) out.thought += piece.text;
      if (piece.kind == tools::Piece::Kind::cut) out.cut += piece.text;
      if (piece.kind == tools::Piece::Kind::call) out.calls += piece.name + piece.arguments;
    }
  };
  for (std::size_t at = 0; at < answer.size(); at += part)
    add(parser.push(answer.substr(at, part)));
  add(parser.finish(whole));
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 4096) return 0;
  const std::string_view answer = as_text(ByteSpan(data, size));
  const bool whole = size % 2 == 0;
  const Heard expected = parse(answer, size + 1, whole);
  check(expected.raw == answer, "every byte is in one piece");
  check(parse(answer, 1, whole) == expected, "byte by byte it is the same");
  check(parse(answer, 5, whole) == expected, "in parts it is the same");
  return 0;
}
