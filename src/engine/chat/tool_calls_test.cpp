// Tests that tool calls as models' templates write them are read back exactly, whole and in parts,
// and that incomplete calls are detected: 320 answers of eight templates, cut at every byte.
#include <gtest/gtest.h>

#include "common/tools/answer_parser.h"
#include "engine/chat/test_tools.h"

namespace weft::chat {
namespace {

using samples::Calls;
using samples::ToolTemplate;
using tools::AnswerParser;
using tools::Piece;

struct Read {
  std::string raw, text, cut;
  Calls calls;

  friend bool operator==(const Read&, const Read&) = default;
};

void add(const std::vector<Piece>& pieces, Read& out) {
  for (const Piece& piece : pieces) {
    out.raw += piece.raw;
    if (piece.kind == Piece::Kind::call) out.calls.emplace_back(piece.name, piece.arguments);
    if (piece.kind == Piece::Kind::text) out.text += piece.text;
    if (piece.kind == Piece::Kind::cut) out.cut += piece.text;
  }
}

Read read_in_parts(std::string_view answer, std::size_t part, bool whole) {
  AnswerParser parser(tools::read_tools(samples::offered_tools).value());
  Read out;
  for (std::size_t at = 0; at < answer.size(); at += part)
    add(parser.push(answer.substr(at, part)), out);
  add(parser.finish(whole), out);
  return out;
}

class ToolCalls : public testing::TestWithParam<ToolTemplate> {};
INSTANTIATE_TEST_SUITE_P(Templates, ToolCalls, testing::ValuesIn(samples::tool_templates),
                         [](const auto& info) {
                           std::string name(info.param.file);
                           std::erase_if(name, [](char c) { return std::isalnum(c) == 0; });
                           return name;
                         });

TEST_P(ToolCalls, AreReadBackInPartsAndCutOnesAreTold) {
  std::mt19937_64 random(23);
  for (int round = 0; round < 40; ++round) {
    Calls calls;
    for (auto count = GetParam().many ? 1 + random() % 3 : 1; count > 0; --count)
      calls.push_back(samples::random_call(random));
    const std::string answer = samples::answer_with(GetParam(), calls);

    const Read whole = read_in_parts(answer, answer.size(), true);
    ASSERT_EQ(whole.calls, calls) << answer;
    ASSERT_EQ(whole.raw, answer);
    ASSERT_EQ(whole.cut, "");
    for (const std::size_t part : {1u, 2u, 3u, 7u})
      ASSERT_EQ(read_in_parts(answer, part, true), whole) << answer;

    for (std::size_t end = 0; end < answer.size(); ++end) {
      const std::string_view head = std::string_view(answer).substr(0, end);
      const Read read = read_in_parts(head, head.size() + 1, false);
      ASSERT_EQ(read.raw, head);
      ASSERT_LE(read.calls.size(), calls.size());
      ASSERT_TRUE(std::ranges::equal(read.calls, std::span(calls).first(read.calls.size())))
          << head;
      ASSERT_EQ(read.text.find(GetParam().opener), std::string::npos) << head;
      // All calls are read, and the rest of the text has no call.
      if (read.calls.size() == calls.size()) continue;
      // A text that ends in the middle of a call gives a cut call, and no byte of the call is text.
      const std::size_t opener = head.rfind(GetParam().opener);
      if (opener == std::string_view::npos) continue;
      const bool between = read.cut.empty();
      if (between) {
        const std::string_view rest = head.substr(head.find_last_not_of(" \n<") + 1);
        ASSERT_FALSE(read.calls.empty()) << head;
        ASSERT_LE(rest.size(), 3u) << head;
      } else {
        ASSERT_TRUE(head.ends_with(read.cut)) << head;
      }
    }
  }
}

}  // namespace
}  // namespace weft::chat
