// Encoders on a GPU make the vectors that llama.cpp and the CPU encoder make, whatever other texts
// are in a pass, with many texts in one pass.
#include "engine/llm/encoders/gpu/gpu_encoder.h"

#include "engine/gpu/native/instance.h"
#include "engine/gpu/run.h"
#include "engine/llm/encoders/test_formats.h"
#include "engine/llm/encoders/test_vectors.h"
#include "engine/llm/run_now.h"

namespace weft::llm {
namespace {

struct Machine {
  std::unique_ptr<gpu::PumpedInstance> instance = gpu::native::create_instance();
  std::unique_ptr<gpu::Device> device;
};
Machine& machine() {
  static Machine shared = [] {
    Machine made;
    if (auto device = gpu::run(*made.instance, made.instance->create_device(
                                                   {.label = "encoders", .trusted_shaders = true})))
      made.device = std::move(*device);
    return made;
  }();
  return shared;
}
template <class T>
T run(Async<T> work) {
  return gpu::run(*machine().instance, std::move(work));
}

class GpuEncoders : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    ASSERT_NE(machine().device, nullptr) << "no GPU, not even a software one";
    opened_ = test::open_encoder(GetParam());
  }
  void TearDown() override { EXPECT_TRUE(machine().device->uncaptured_errors().empty()); }
  std::unique_ptr<Encoder> on_gpu(GpuEncoderOptions options = {}) {
    auto made =
        run(create_gpu_encoder(*machine().device, opened_->model, *opened_->source, options));
    EXPECT_TRUE(made.has_value()) << made.error().message;
    return std::move(*made);
  }
  std::vector<Token> tokens(std::size_t count, std::size_t seed) const {
    std::vector<Token> out;
    for (std::size_t i = 0; i < count; ++i)
      out.push_back(
          static_cast<Token>((seed * 7919 + i * 31 + i * i) % opened_->model.config.vocabulary));
    return out;
  }
  std::unique_ptr<test::OpenEncoder> opened_;
};
INSTANTIATE_TEST_SUITE_P(Models, GpuEncoders,
                         testing::Values("tiny-bert-random-f16", "tiny-nomic-bert-random-f16",
                                         "tiny-bert-random-q4_k_m", "tiny-nomic-bert-random-q8_0"),
                         [](const auto& row) {
                           std::string name = row.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST_P(GpuEncoders, MakeTheVectorsOfLlamaCppAndOfTheProcessor) {
  const auto expected = test::read_vectors(
      *weft::test::find_data(std::string("models/expected/") + GetParam() + ".json"));
  std::vector<std::vector<Token>> texts;
  for (const auto& one : expected) texts.push_back(one.tokens);
  const auto encoder = on_gpu();

  const auto vectors = run(encoder->embed(texts));

  ASSERT_TRUE(vectors) << vectors.error().message;
  const Vectors on_cpu = run_now(opened_->encoder->embed(texts)).value();
  double worst = 1, worst_cpu = 1;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    worst = std::min(worst, test::dot((*vectors)[i], expected[i].vector));
    worst_cpu = std::min(worst_cpu, test::dot((*vectors)[i], on_cpu[i]));
    EXPECT_NEAR(test::dot((*vectors)[i], (*vectors)[i]), 1, 1e-5) << expected[i].text;
    EXPECT_EQ(run(encoder->embed({texts[i]})).value().front(), (*vectors)[i])
        << "what stands beside it changes nothing";
  }
  EXPECT_GE(worst, 0.9999);
  EXPECT_GE(worst_cpu, 0.9999);
  std::printf("  %s on %s: %zu texts, cosine at least %.7f, with the processor's %.7f\n",
              GetParam(), encoder->device().c_str(), expected.size(), worst, worst_cpu);
}

class GpuEncoderFormats : public testing::TestWithParam<test::FormatCase> {};
INSTANTIATE_TEST_SUITE_P(Formats, GpuEncoderFormats,
                         testing::Combine(testing::Values("bert", "nomic-bert"),
                                          testing::ValuesIn(test::weight_types)),
                         test::format_name);

TEST_P(GpuEncoderFormats, MakeTheVectorsOfTheValuesOfTheirWeights) {
  ASSERT_NE(machine().device, nullptr) << "no GPU, not even a software one";
  const auto [architecture, type] = GetParam();
  const test::EncoderMaker maker(architecture, type);
  const auto own = maker.make(false), values = maker.make(true);
  const auto encoder =
      run(create_gpu_encoder(*machine().device, own->model, *own->source, {})).value();
  const auto on_cpu = Encoder::create(values->model, *values->source, {.threads = 2}).value();
  const auto texts = test::EncoderMaker::texts();

  const Vectors made = run(encoder->embed(texts)).value();

  const Vectors expected = run_now(on_cpu->embed(texts)).value();
  for (std::size_t i = 0; i < texts.size(); ++i)
    EXPECT_GE(test::dot(made[i], expected[i]), 0.9999) << i;
  EXPECT_TRUE(machine().device->uncaptured_errors().empty());
}

Async<> count_one(std::size_t& passes) {
  ++passes;
  co_return;
}

TEST_P(GpuEncoders, Take32TextsOf128TokensInOnePass) {
  std::size_t passes = 0;
  const auto encoder = on_gpu({.between = [&passes] { return count_one(passes); }});
  std::vector<std::vector<Token>> texts;
  for (std::size_t i = 0; i < 32; ++i) texts.push_back(tokens(128, i));

  const auto vectors = run(encoder->embed(texts));

  ASSERT_TRUE(vectors) << vectors.error().message;
  EXPECT_EQ(passes, 1u);
  for (std::size_t i : {0u, 13u, 31u})
    EXPECT_GE(test::dot((*vectors)[i], run_now(opened_->encoder->embed({texts[i]})).value()[0]),
              0.9999)
        << i;
}

TEST_P(GpuEncoders, CutWhatIsTooMuchForAPassIntoSeveral) {
  std::size_t passes = 0;
  const auto encoder = on_gpu({.rows = 100, .between = [&passes] { return count_one(passes); }});
  std::vector<std::vector<Token>> texts;
  for (const std::size_t size : {1u, 60u, 39u, 2u, 300u, 7u}) texts.push_back(tokens(size, size));

  const auto vectors = run(encoder->embed(texts));

  ASSERT_TRUE(vectors) << vectors.error().message;
  EXPECT_EQ(passes, 4u) << "100 rows, 2, 300 by themselves, 7";
  const Vectors on_cpu = run_now(opened_->encoder->embed(texts)).value();
  for (std::size_t i = 0; i < texts.size(); ++i)
    EXPECT_GE(test::dot((*vectors)[i], on_cpu[i]), 0.9999) << i;
  EXPECT_EQ(run(encoder->embed({})).value().size(), 0u);
  EXPECT_EQ(run(encoder->embed({{}})).error().message, "A text without tokens has no vector.");
}

TEST(GpuEncoder, LeavesShapesThatNoKernelHasToTheProcessor) {
  EncoderConfig config;
  config.embedding = 12;
  config.feed_forward = 32;
  config.heads = 2;
  EXPECT_FALSE(gpu_encoder_possible(config));
  config.heads = 3;
  EXPECT_TRUE(gpu_encoder_possible(config));
  config.feed_forward = 33;
  EXPECT_FALSE(gpu_encoder_possible(config));
}

}  // namespace
}  // namespace weft::llm
