// A model's tokenizer and template, read and run in the confined child, give the same results as in
// the engine; a damaged file fails only its own request.
#include "worker/sandbox/text_service.h"

#include <gtest/gtest.h>

#include "common/base/test_data.h"
#include "engine/gguf/file.h"
#include "engine/gguf/mapped_file.h"
#include "worker/sandbox/sandbox.h"

namespace weft::worker {
namespace {

constexpr std::uint64_t reply_max = std::uint64_t{16} << 20;
using namespace std::chrono_literals;

class TextServiceTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto path = test::find_data("models/tiny-llama-chat-q8_0.gguf");
    source = gguf::MappedFile::open(path->string()).value();
    file = gguf::read_file(*source).value();
    child = Sandbox::start(
                {.program = WEFT_SANDBOX_CHILD, .arguments = {}, .duty = Sandbox::Duty::texts})
                .value();
    const auto ready = child->wait_ready();
    ASSERT_TRUE(ready) << ready.error().message;
  }
  Result<ByteVector> open(std::uint64_t head) {
    return child->ask_service(
        FrameKind::open_text,
        Packer().number(source->bytes()).bytes(source->view(0, head).value()).take(), 10s,
        reply_max);
  }
  Result<ByteVector> prompt(bool chat, std::string_view text, std::string_view format = "",
                            std::string_view rule = "") {
    return child->ask_service(
        FrameKind::read_prompt,
        Packer().number(chat ? 1 : 0).text(text).number(0).text(format).text(rule).take(), 10s,
        reply_max);
  }

  std::unique_ptr<gguf::Source> source;
  gguf::File file;
  std::unique_ptr<Sandbox> child;
};

TEST_F(TextServiceTest, TellsWhatEachTokenSays) {
  const auto reply = open(file.data_offset);
  ASSERT_TRUE(reply) << reply.error().message;
  const auto text = chat::ModelText::create(file.metadata).value();

  Unpacker in(*reply);
  const std::uint64_t count = in.number().value();
  ASSERT_EQ(count, text->tokenizer().vocabulary().size());
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t flags = in.number().value();
    const ByteSpan bytes = in.bytes().value();
    std::string expected;
    text->tokenizer().append_piece(static_cast<tokenizer::Token>(i), {.show_special = true},
                                   expected);
    EXPECT_EQ(as_text(bytes), expected) << i;
    EXPECT_EQ((flags & token_ends_answer) != 0,
              text->tokenizer().vocabulary().ends_generation(static_cast<tokenizer::Token>(i)))
        << i;
  }
}

TEST_F(TextServiceTest, ReadsPromptsAsTheEngineDoes) {
  ASSERT_TRUE(open(file.data_offset));
  const auto text = chat::ModelText::create(file.metadata).value();
  const std::string input = R"({"messages":[{"role":"user","content":" Hi "}]})";

  const auto reply = prompt(true, input);

  ASSERT_TRUE(reply) << reply.error().message;
  Unpacker in(*reply);
  EXPECT_EQ(in.number().value(), 0u) << "no thought";
  const auto expected = text->prompt({.text = input}).value();
  ASSERT_EQ(in.number().value(), expected.size());
  for (const auto token : expected)
    EXPECT_EQ(in.number().value(), static_cast<std::uint64_t>(token));
}

TEST_F(TextServiceTest, RefusesWhatIsWrongAndLives) {
  EXPECT_FALSE(prompt(false, "nothing is open"));
  EXPECT_FALSE(open(100)) << "a head that is cut";
  ASSERT_TRUE(open(file.data_offset));
  EXPECT_EQ(prompt(true, "{").error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(prompt(false, "a", "gbnf", "root ::= word").error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(prompt(false, "a", "colour").error().code, ErrorCode::unsupported);
  EXPECT_TRUE(prompt(false, "a"));
}

}  // namespace
}  // namespace weft::worker
