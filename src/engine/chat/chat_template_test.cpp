// Tests that a conversation becomes the text of the model's own template, or of the format that
// fits its special tokens.
#include "engine/chat/chat_template.h"

#include <gtest/gtest.h>

#include "common/base/test_data.h"
#include "common/json/json.h"
#include "engine/gguf/file.h"
#include "engine/gguf/test_builder.h"

namespace weft::chat {
namespace {

using gguf::ValueType;
using gguf::test::Builder;

constexpr std::string_view conversation =
    R"({"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": " Hi "}]})";

struct Model {
  gguf::File file;
  std::unique_ptr<const tokenizer::Tokenizer> tokenizer;
};
Model model_of(const std::string& bytes) {
  Model model{.file = gguf::read_file(gguf::MemorySource(as_bytes(bytes))).value(),
              .tokenizer = nullptr};
  model.tokenizer = tokenizer::Tokenizer::create(model.file.metadata).value();
  return model;
}
Builder byte_pairs(const std::vector<std::string>& tokens) {
  Builder builder;
  builder.text("tokenizer.ggml.model", "gpt2")
      .text("tokenizer.ggml.pre", "gpt-2")
      .texts("tokenizer.ggml.tokens", tokens);
  return builder.texts("tokenizer.ggml.merges", {})
      .uint32("tokenizer.ggml.bos_token_id", 0)
      .uint32("tokenizer.ggml.eos_token_id", 1);
}

std::string rendered(const Builder& builder, ChatTemplate::Origin origin) {
  const Model model = model_of(builder.bytes());
  const auto chat = ChatTemplate::create(model.file.metadata, model.tokenizer->vocabulary());
  if (!chat) return chat.error().message;
  EXPECT_EQ(chat->origin(), origin);
  return chat->render(conversation, {}).value();
}

TEST(ChatTemplate, TheFormatFollowsFromTheTokens) {
  EXPECT_EQ(rendered(byte_pairs({"<b>", "<e>", "<|start_header_id|>", "<|eot_id|>"}),
                     ChatTemplate::Origin::llama3),
            "<b><|start_header_id|>system<|end_header_id|>\n\nBe "
            "brief.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>"
            "<|start_header_id|>assistant<|end_header_id|>\n\n");
  EXPECT_EQ(rendered(byte_pairs({"<b>", "<e>", "<|im_start|>", "<|im_end|>"}),
                     ChatTemplate::Origin::chatml),
            "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n Hi "
            "<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(rendered(Builder()
                         .text("tokenizer.ggml.model", "llama")
                         .texts("tokenizer.ggml.tokens", {"<unk>", "<s>", "</s>"})
                         .array<float>("tokenizer.ggml.scores", ValueType::float32, {0, 0, 0}),
                     ChatTemplate::Origin::llama2),
            "<s>[INST] <<SYS>>\nBe brief.\n<</SYS>>\n\nHi [/INST]");
  EXPECT_EQ(
      rendered(byte_pairs({"<b>", "<e>"}), ChatTemplate::Origin::given),
      "The file has no chat template, and its tokens fit none of Llama 3, ChatML and Llama 2.");
}

TEST(ChatTemplate, TheFilesOwnComesFirstAndItsToolVariantWithTools) {
  Builder builder = byte_pairs({"<b>", "<e>", "<|im_start|>", "<|im_end|>"});
  builder.text("tokenizer.chat_template", "{{ bos_token }}{{ messages|length }}{{ eos_token }}");
  builder.text("tokenizer.chat_template.tool_use", "tools: {{ tools|length }}");
  const Model model = model_of(builder.bytes());

  const auto chat =
      ChatTemplate::create(model.file.metadata, model.tokenizer->vocabulary()).value();

  EXPECT_EQ(chat.render(conversation, {}).value(), "<b>2<e>");
  EXPECT_EQ(chat.render(R"({"messages": [], "tools": []})", {}).value(), "<b>0<e>");
  EXPECT_EQ(chat.render(R"({"messages": [], "tools": [1]})", {}).value(), "tools: 1");
}

TEST(ChatTemplate, OtherKeysAreVariablesAndTheClockIsGiven) {
  const auto chat = ChatTemplate::parse(
                        "{{ mood }} {{ add_generation_prompt }} {{ strftime_now('%Y') }} {{ "
                        "documents }}{{ bos_token }}")
                        .value();

  EXPECT_EQ(chat.render(R"({"messages": [], "mood": "fine"})", {.now = {.year = 2026}}).value(),
            "fine True 2026 None");
}

TEST(ChatTemplate, SaysWhatTheInputLacks) {
  const auto chat = ChatTemplate::parse("x").value();

  EXPECT_EQ(chat.render("[]", {}).error().message, "The input is not a JSON object.");
  EXPECT_EQ(chat.render("{}", {}).error().message, "The input has no list of 'messages'.");
  EXPECT_EQ(chat.render("{", {}).error().code, ErrorCode::invalid_argument);
}

TEST(ChatTemplate, BeginIsNotWrittenTwice) {
  Builder builder = byte_pairs({"<b>", "<e>", "x"});
  builder.scalar<std::uint8_t>("tokenizer.ggml.add_bos_token", ValueType::boolean, 1);
  builder.array<std::int32_t>("tokenizer.ggml.token_type", ValueType::int32, {3, 3, 1});
  const Model model = model_of(builder.bytes());

  EXPECT_EQ(encode_prompt(*model.tokenizer, "<b>x").value(), (std::vector<tokenizer::Token>{0, 2}));
  EXPECT_EQ(encode_prompt(*model.tokenizer, "x").value(), (std::vector<tokenizer::Token>{0, 2}));
}

// Tests that the templates of the small models give the expected texts for conversations, and that
// these texts have the expected tokens.
class ModelChats : public testing::TestWithParam<const char*> {};
TEST_P(ModelChats, AreThePromptsOfTheModel) {
  const Model model = model_of(
      test::read_bytes(test::find_data(std::string("models/") + GetParam() + ".gguf").value()));
  const auto chat =
      ChatTemplate::create(model.file.metadata, model.tokenizer->vocabulary()).value();
  const std::string text = test::read_bytes(
      test::find_data(std::string("models/expected/") + GetParam() + ".json").value());
  const auto file = json::parse(text, {.bytes_max = 1u << 22}).value().members().value();
  int count = 0;
  for (const auto& [key, cases] : file) {
    if (key != "cases") continue;
    for (const json::Value& row : cases.array().value()) {
      std::string messages, prompt;
      std::vector<tokenizer::Token> tokens;
      for (const auto& [field, value] : row.members().value()) {
        if (field == "messages" && value.kind() == json::Kind::array) messages = value.text();
        if (field == "prompt") prompt = value.string({.bytes_max = 1u << 20}).value();
        if (field == "prompt_tokens")
          for (const json::Value& token : value.array().value())
            tokens.push_back(token.integer_as<tokenizer::Token>().value());
      }
      if (messages.empty()) continue;
      const std::string made = chat.render(R"({"messages": )" + messages + "}", {}).value();
      // The expected text leaves out the BOS that the Llama template writes. The expected tokens
      // begin with BOS once.
      const std::string begin =
          model.tokenizer->vocabulary().adds_begin() ? "<|begin_of_text|>" : "";
      EXPECT_EQ(made, begin + prompt);
      EXPECT_EQ(encode_prompt(*model.tokenizer, made).value(), tokens);
      ++count;
    }
  }
  EXPECT_EQ(count, 14);
}
INSTANTIATE_TEST_SUITE_P(Tiny, ModelChats,
                         testing::Values("tiny-llama-chat-q8_0", "tiny-qwen2-short-q4_k_m",
                                         "tiny-qwen35-short-q4_k_m"),
                         [](const auto& row) {
                           std::string made = row.param;
                           for (char& c : made) c = c == '-' ? '_' : c;
                           return made;
                         });

}  // namespace
}  // namespace weft::chat
