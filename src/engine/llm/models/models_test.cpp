// GGUF files that describe a model, and files with one error each, for which the exact message is
// checked.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/gguf/test_builder.h"
#include "engine/llm/models/model.h"

namespace weft::llm {
namespace {

using gguf::TensorType;
using gguf::ValueType;

// Writes a file tensor by tensor, all F32 and aligned.
struct ModelFile {
  gguf::test::Builder builder;
  std::uint64_t offset = 0;

  void tensor(const std::string& name, const std::vector<std::uint64_t>& shape,
              TensorType type = TensorType::f32) {
    builder.tensor(name, shape, type, offset);
    std::uint64_t elements = 1;
    for (const auto size : shape) elements *= size;
    const auto& about = gguf::info(type);
    offset += (elements / about.block_elements * about.block_bytes + 31) / 32 * 32;
  }
  Result<Model> read() {
    bytes = builder.bytes(offset);
    const gguf::MemorySource source(as_bytes(bytes));
    auto parsed = gguf::read_file(source);
    if (!parsed) return pass(std::move(parsed));
    file = std::move(*parsed);
    return read_model(file);
  }
  std::string bytes;
  gguf::File file;
};

struct Numbers {
  std::uint32_t layers = 1, width = 64, feed_forward = 96, heads = 4, kv_heads = 2;
};

void numbers(ModelFile& out, const std::string& architecture, const Numbers& n) {
  out.builder.text("general.architecture", architecture);
  out.builder.uint32(architecture + ".block_count", n.layers);
  out.builder.uint32(architecture + ".embedding_length", n.width);
  out.builder.uint32(architecture + ".feed_forward_length", n.feed_forward);
  out.builder.uint32(architecture + ".context_length", 128);
  out.builder.uint32(architecture + ".attention.head_count", n.heads);
  out.builder.uint32(architecture + ".attention.head_count_kv", n.kv_heads);
  out.builder.scalar(architecture + ".attention.layer_norm_rms_epsilon", ValueType::float32, 1e-5f);
}

void tensors(ModelFile& out, const Numbers& n) {
  out.tensor("token_embd.weight", {n.width, 32});
  out.tensor("output_norm.weight", {n.width});
  for (std::uint32_t i = 0; i < n.layers; ++i) {
    const std::string layer = "blk." + std::to_string(i) + ".";
    const std::uint64_t kv = std::uint64_t{n.width} / n.heads * n.kv_heads;
    out.tensor(layer + "attn_norm.weight", {n.width});
    out.tensor(layer + "attn_q.weight", {n.width, n.width});
    out.tensor(layer + "attn_k.weight", {n.width, kv});
    out.tensor(layer + "attn_v.weight", {n.width, kv});
    out.tensor(layer + "attn_output.weight", {n.width, n.width});
    out.tensor(layer + "ffn_norm.weight", {n.width});
    out.tensor(layer + "ffn_gate.weight", {n.width, n.feed_forward});
    out.tensor(layer + "ffn_up.weight", {n.width, n.feed_forward});
    out.tensor(layer + "ffn_down.weight", {n.feed_forward, n.width});
  }
}

// A Gemma 3 file with one layer and without the key of the window.
void gemma3(ModelFile& out) {
  numbers(out, "gemma3", {});
  tensors(out, {});
  for (const char* name : {"attn_q_norm", "attn_k_norm"})
    out.tensor(std::string("blk.0.") + name + ".weight", {16});
  for (const char* name : {"post_attention_norm", "post_ffw_norm"})
    out.tensor(std::string("blk.0.") + name + ".weight", {64});
}

TEST(ReadModel, DescribesALlama) {
  ModelFile file;
  numbers(file, "llama", {.layers = 2});
  tensors(file, {.layers = 2});

  const Result<Model> model = file.read();

  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_EQ(model->config.layers, 2u);
  EXPECT_EQ(model->config.vocabulary, 32u);
  EXPECT_EQ(model->config.attention.head_dim, 16u);
  EXPECT_EQ(model->config.rope.pairs, Rope::Pairs::adjacent);
  EXPECT_EQ(model->config.rope.frequencies.size(), 8u);
  EXPECT_DOUBLE_EQ(model->config.rope.frequencies[0], 1.0);
  EXPECT_EQ(model->output, model->token_embedding);
}

// A file with one layer of `experts` experts, of which a position uses `used`.
void qwen3moe(ModelFile& out, std::uint32_t experts, std::uint32_t used,
              std::uint32_t feed_forward = 32) {
  numbers(out, "qwen3moe", {});
  out.builder.uint32("qwen3moe.expert_count", experts);
  out.builder.uint32("qwen3moe.expert_used_count", used);
  out.builder.uint32("qwen3moe.expert_feed_forward_length", feed_forward);
  tensors(out, {});
  for (const char* name : {"attn_q_norm", "attn_k_norm"})
    out.tensor(std::string("blk.0.") + name + ".weight", {16});
  out.tensor("blk.0.ffn_gate_inp.weight", {64, experts});
  out.tensor("blk.0.ffn_gate_exps.weight", {64, feed_forward, experts});
  out.tensor("blk.0.ffn_up_exps.weight", {64, feed_forward, experts});
  out.tensor("blk.0.ffn_down_exps.weight", {feed_forward, 64, experts});
}

TEST(ReadModel, DescribesAMixtureOfExperts) {
  ModelFile file;
  qwen3moe(file, 6, 2);

  const Result<Model> model = file.read();

  ASSERT_TRUE(model.has_value()) << model.error().message;
  ASSERT_TRUE(model->config.experts.has_value());
  EXPECT_EQ(model->config.experts->count, 6u);
  EXPECT_EQ(model->config.experts->used, 2u);
  EXPECT_EQ(model->config.feed_forward, 64u) << "of the experts of a position together";
  const auto& experts = std::get<Experts>(model->layers[0].feed_forward);
  EXPECT_EQ(experts.down->name, "blk.0.ffn_down_exps.weight");
  const auto all = tensors_of(*model, 0, 1);
  for (const Weight weight : {experts.router, experts.gate, experts.up, experts.down})
    EXPECT_TRUE(std::ranges::contains(all, weight)) << weight->name;
}

TEST(ReadModel, RefusesExpertsThatCannotBe) {
  const auto message = [](std::uint32_t experts, std::uint32_t used,
                          std::uint32_t feed_forward = 32) {
    ModelFile file;
    qwen3moe(file, experts, used, feed_forward);
    return file.read().error().message;
  };
  EXPECT_EQ(message(6, 7), "The metadata 'qwen3moe.expert_used_count' (7) is greater than 6.");
  EXPECT_EQ(message(100, 65), "The metadata 'qwen3moe.expert_used_count' (65) is greater than 64.");
  EXPECT_EQ(message(6, 2, 33),
            "qwen3moe.expert_feed_forward_length is 33; it must be a multiple of 4.");
  EXPECT_EQ(message(6, 0), "qwen3moe.expert_used_count is 0; it must be at least 1.");
}

TEST(ReadModel, ScalesRopeLinearlyWhereTheFileSaysSo) {
  ModelFile file;
  numbers(file, "llama", {});
  file.builder.text("llama.rope.scaling.type", "linear");
  file.builder.scalar("llama.rope.scaling.factor", ValueType::float32, 4.0f);
  tensors(file, {});

  const Result<Model> model = file.read();

  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_DOUBLE_EQ(model->config.rope.frequencies[0], 0.25);
}

TEST(ReadModel, RefusesAnArchitectureItDoesNotKnow) {
  ModelFile file;
  file.builder.text("general.architecture", "mamba");

  EXPECT_EQ(file.read().error().message,
            "The architecture 'mamba' is not supported; Weft runs llama, qwen2, qwen3, qwen35, "
            "gemma3, mistral3, qwen3moe.");
}

struct Wrong {
  const char* what;
  void (*spoil)(ModelFile&);
  const char* sentence;
};

class WrongModel : public testing::TestWithParam<Wrong> {};

TEST_P(WrongModel, GetsOneSentence) {
  ModelFile file;
  GetParam().spoil(file);

  const Result<Model> model = file.read();

  ASSERT_FALSE(model.has_value());
  EXPECT_EQ(model.error().message, GetParam().sentence);
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongModel,
    testing::Values(
        Wrong{"NoLayers", [](ModelFile& f) { numbers(f, "llama", {.layers = 0}); },
              "llama.block_count is 0; it must be at least 1."},
        Wrong{"TooManyLayers", [](ModelFile& f) { numbers(f, "llama", {.layers = 5000}); },
              "The metadata 'llama.block_count' (5000) is greater than 1024."},
        Wrong{"UnevenHeads", [](ModelFile& f) { numbers(f, "llama", {.heads = 4, .kv_heads = 3}); },
              "4 query heads cannot share 3 key heads evenly."},
        Wrong{"WidthAndHeads", [](ModelFile& f) { numbers(f, "llama", {.width = 66}); },
              "The width 66 is not a multiple of the 4 heads."},
        Wrong{"NoEmbedding", [](ModelFile& f) { numbers(f, "llama", {}); },
              "The file has no tensor 'token_embd.weight', which llama needs."},
        Wrong{"MissingTensor",
              [](ModelFile& f) {
                numbers(f, "llama", {.layers = 2});
                tensors(f, {.layers = 1});
              },
              "The file has no tensor 'blk.1.attn_norm.weight', which llama needs."},
        Wrong{"WrongShape",
              [](ModelFile& f) {
                numbers(f, "llama", {});
                tensors(f, {.feed_forward = 64});
              },
              "Tensor 'blk.0.ffn_gate.weight' is 64 x 64; the model needs 64 x 96."},
        Wrong{"MissingBias",
              [](ModelFile& f) {
                numbers(f, "qwen2", {});
                tensors(f, {});
              },
              "The file has no tensor 'blk.0.attn_q.bias', which qwen2 needs."},
        Wrong{"UnknownFormat",
              [](ModelFile& f) {
                numbers(f, "llama", {});
                f.tensor("token_embd.weight", {64, 32});
                f.tensor("output_norm.weight", {64}, TensorType::i32);
              },
              "Tensor 'output_norm.weight' has the weight format I32, which is not supported."},
        Wrong{"RopeScaling",
              [](ModelFile& f) {
                numbers(f, "llama", {});
                f.builder.text("llama.rope.scaling.type", "longrope");
              },
              "The rope scaling 'longrope' is not supported; Weft knows 'none', 'linear', 'yarn' "
              "and the factors of rope_freqs."},
        Wrong{"YarnWithoutItsLength",
              [](ModelFile& f) {
                numbers(f, "mistral3", {});
                f.builder.text("mistral3.rope.scaling.type", "yarn");
              },
              "The metadata has no 'mistral3.rope.scaling.original_context_length'."},
        Wrong{"YarnThatShrinks",
              [](ModelFile& f) {
                numbers(f, "mistral3", {});
                f.builder.text("mistral3.rope.scaling.type", "yarn");
                f.builder.uint32("mistral3.rope.scaling.original_context_length", 64);
                f.builder.scalar("mistral3.rope.scaling.factor", ValueType::float32, 0.5f);
              },
              "The values of mistral3.rope.scaling.* are not valid for YaRN."},
        Wrong{"NoNormBehindAttention",
              [](ModelFile& f) {
                numbers(f, "gemma3", {});
                tensors(f, {});
                f.tensor("blk.0.attn_q_norm.weight", {16});
                f.tensor("blk.0.attn_k_norm.weight", {16});
              },
              "The file has no tensor 'blk.0.post_attention_norm.weight', which gemma3 needs."},
        Wrong{"NoWindow", [](ModelFile& f) { gemma3(f); },
              "The metadata has no 'gemma3.attention.sliding_window'."},
        Wrong{"BoundedLogits",
              [](ModelFile& f) {
                gemma3(f);
                f.builder.scalar("gemma3.final_logit_softcapping", ValueType::float32, 30.0f);
              },
              "gemma3.final_logit_softcapping is 30; Weft runs Gemma 3 only without this cap (0)."},
        Wrong{"DeltaNetWithoutNumbers", [](ModelFile& f) { numbers(f, "qwen35", {}); },
              "The metadata has no 'qwen35.ssm.conv_kernel'."}),
    [](const auto& row) { return std::string(row.param.what); });

}  // namespace
}  // namespace weft::llm
