// Answers of one engine that another engine draws again: honest engines of every arithmetic admit
// each other's tokens, with every setting, and an exchanged plausible token is found.
#include "engine/llm/redraw.h"

#include <numeric>

#include "common/base/long_tests.h"
#include "common/proof/fingerprint.h"
#include "engine/llm/cpu/cpu_engine.h"
#include "engine/llm/generator.h"
#include "engine/llm/gpu/test_gpu.h"
#include "engine/llm/run_now.h"
#include "engine/llm/test_text.h"
#include "engine/tokenizer/tokenizer.h"

namespace weft::llm {
namespace {

using test::run;

constexpr std::uint32_t read_tokens = 45, answer_tokens = 36;

struct Reader {
  std::string name;
  std::unique_ptr<Engine> engine;
  bool on_cpu = false;
  Generation generate(const tokenizer::Tokenizer& tokenizer, Request request) const {
    Generator generator(*engine, tokenizer);
    return run(generator.generate(std::move(request))).value();
  }
};

class Redrawing : public test::GpuEngineTest, public testing::WithParamInterface<const char*> {
 protected:
  void open(const std::string& name) {
    const auto path = weft::test::find_data("models/" + name + ".gguf");
    if (!path) GTEST_SKIP() << "no WEFT_DATA";
    model = std::move(*test::open_model(*path));
    tokenizer = std::move(*tokenizer::Tokenizer::create(model->file.metadata));
    prompt = tokenizer->encode(test::shakespeare(1000), {.add_special = true}).value();
    prompt.resize(read_tokens);
  }
  [[nodiscard]] Reader cpu(EngineOptions options = {}) const {
    options.context = 256;
    return {"cpu " + std::string(to_string(options.activations)),
            create_cpu_engine(model->model, *model->source, options).value(), true};
  }
  [[nodiscard]] Reader gpu(EngineOptions options = {}) const {
    options.context = 256;
    options.sequences = 4;
    return {"gpu " + std::string(to_string(options.activations)), engine_of(*model, options)};
  }
  [[nodiscard]] Request request(const Sampling& sampling) const {
    return {.prompt = prompt, .tokens_max = answer_tokens, .sampling = sampling};
  }
  static std::vector<Token> tokens_of(const Generation& generation) {
    std::vector<Token> out;
    for (const GeneratedToken& token : generation.tokens) out.push_back(token.id);
    return out;
  }
  // The tokens of the answer that `by` does not admit.
  std::vector<std::uint32_t> doubts(const Reader& by, Request asked, std::vector<Token> answer,
                                    double error) const {
    std::optional<std::vector<std::uint32_t>> out;
    asked.tokens_max = static_cast<std::uint32_t>(answer.size());
    asked.answered = std::move(answer);
    asked.redraw_error = error;
    asked.on_redrawn = [&](const std::vector<std::uint32_t>& doubtful) { out = doubtful; };
    (void)by.generate(*tokenizer, std::move(asked));
    EXPECT_TRUE(out.has_value());
    return out.value_or(std::vector<std::uint32_t>());
  }

  std::unique_ptr<test::OpenModel> model;
  std::unique_ptr<const tokenizer::Tokenizer> tokenizer;
  std::vector<Token> prompt;
};
INSTANTIATE_TEST_SUITE_P(Models, Redrawing,
                         testing::Values("tiny-llama-chat-f16", "tiny-qwen35-chat-q8_0"),
                         test::test_name);

const std::vector<Sampling> settings = {
    {},
    {.temperature = 1.3f, .min_p = 0.05f, .seed = 5},
    {.temperature = 0.8f, .top_k = 40, .top_p = 0.95f, .seed = 4},
    {.temperature = 0.7f, .top_p = 0.9f, .repetition_penalty = 1.1f, .seed = 6}};

TEST_P(Redrawing, HonestEnginesAdmitEachOthersTokens) {
  open(GetParam());
  if (model == nullptr) return;
  const auto compare = [&](const std::vector<Reader>& readers, bool rounded) {
    const double error =
        rounded ? proof::rounded_tolerance.error_max : proof::FingerprintTolerance{}.error_max;
    for (const Reader& by : readers) {
      for (const Sampling& sampling : settings) {
        Request asked = request(sampling);
        if (!weft::test::long_tests()) asked.tokens_max = 20;
        const auto answer = tokens_of(by.generate(*tokenizer, asked));
        for (const Reader& auditor : readers) {
          // The CPU engine rounds no activations (cpu_engine.h), so this case would repeat the
          // comparison of the CPU engine with itself.
          if (rounded && by.on_cpu && auditor.on_cpu) continue;
          const auto found = doubts(auditor, asked, answer, error);
          EXPECT_TRUE(found.empty()) << by.name << " by " << auditor.name << ": " << found.size()
                                     << " of " << answer.size();
        }
      }
    }
  };
  std::vector<Reader> exact, rounded;
  exact.push_back(cpu());
  exact.push_back(gpu());
  compare(exact, false);
  rounded.push_back(cpu({.activations = Activations::int8}));
  rounded.push_back(gpu({.activations = Activations::int8}));
  compare(rounded, true);
}

// Measures the distance between logits, relative to their spread, and checks the factor in
// logit_slack() against it.
TEST_P(Redrawing, LogitsAreWithinTheDistance) {
  open(GetParam());
  if (model == nullptr) return;
  std::vector<Token> text =
      tokenizer->encode(test::shakespeare(1500), {.add_special = true}).value();
  text.resize(96);
  const auto along = [&](const Reader& reader) {
    const SequenceId sequence = reader.engine->open().value();
    auto out = run(reader.engine->logits_along(sequence, text)).value();
    reader.engine->close(sequence);
    return out;
  };
  const auto compare = [&](const Reader& a, const Reader& b, double error) {
    const auto ours = along(a), theirs = along(b);
    const std::size_t width = model->model.config.vocabulary;
    double farthest = 0, typical = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
      const auto own = std::span(ours).subspan(at * width, width);
      const auto other = std::span(theirs).subspan(at * width, width);
      const double spread = logit_slack(own, 1) / logit_slack(std::vector<float>{-1, 1}, 1);
      std::vector<double> apart;
      for (std::size_t i = 0; i < width; ++i) apart.push_back(own[i] - other[i]);
      const double mean = std::accumulate(apart.begin(), apart.end(), 0.0) / double(width);
      double squares = 0;
      for (const double one : apart) {
        squares += (one - mean) * (one - mean) / double(width);
        farthest = std::max(farthest, std::abs(one) / spread);
      }
      typical = std::max(typical, std::sqrt(squares) / spread);
    }
    const double slack = logit_slack(std::vector<float>{-1, 1}, error);
    std::printf("  %-12s %-12s logits %.4f (typically %.4f) of the spread apart, %.4f allowed\n",
                a.name.c_str(), b.name.c_str(), farthest, typical, slack);
    EXPECT_LT(farthest, slack);
  };
  compare(cpu(), gpu(), proof::FingerprintTolerance{}.error_max);
  const auto int8 = EngineOptions{.activations = Activations::int8};
  compare(cpu(int8), gpu(int8), proof::rounded_tolerance.error_max);
}

TEST_P(Redrawing, AnotherPlausibleTokenIsFound) {
  open(GetParam());
  if (model == nullptr) return;
  const Reader worker = gpu(), auditor = cpu();
  const double error = proof::FingerprintTolerance{}.error_max;
  for (const Sampling& sampling : {settings[0], settings[1], settings[2]}) {
    // Exchanges every fifth token of the answer for the next best one.
    Request asked = request(sampling);
    asked.top = 2;
    std::vector<Token> answer = tokens_of(worker.generate(*tokenizer, request(sampling)));
    std::size_t exchanged = 0, found = 0;
    for (std::size_t at = 5; at + 1 < answer.size(); at += 5) {
      std::vector<Token> forged(answer.begin(), answer.begin() + static_cast<std::ptrdiff_t>(at));
      Request next = request(sampling);
      next.answered = forged;
      next.tokens_max = static_cast<std::uint32_t>(at + 1);
      next.top = 2;
      const Generation step = worker.generate(*tokenizer, next);
      const auto& token = step.tokens.front();
      const Token other = token.id == token.top[0].token ? token.top[1].token : token.top[0].token;
      forged.push_back(other);
      ++exchanged;
      const auto doubtful = doubts(auditor, request(sampling), forged, error);
      found += doubtful == std::vector{static_cast<std::uint32_t>(at)} ? 1 : 0;
    }
    std::printf("  temperature %.1f: %zu of %zu exchanged tokens found\n", sampling.temperature,
                found, exchanged);
    EXPECT_GE(found * 10, exchanged * 7);
  }
}

}  // namespace
}  // namespace weft::llm
