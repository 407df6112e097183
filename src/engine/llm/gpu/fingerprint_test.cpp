// Fingerprints of sessions (common/proof) between engines: a session that one honest engine
// generates is accepted by another after one prefill, token by token or in parts, on the CPU or on
// a GPU; a session that was generated with weights of fewer bits is accepted by no engine.
#include "common/proof/fingerprint.h"

#include <functional>

#include "common/base/long_tests.h"
#include "common/proof/half.h"
#include "common/proof/smaller_weights.h"
#include "engine/llm/cpu/cpu_engine.h"
#include "engine/llm/gpu/test_gpu.h"
#include "engine/llm/run_now.h"
#include "engine/llm/test_text.h"
#include "engine/tokenizer/tokenizer.h"

namespace weft::llm {
namespace {

using proof::check_fingerprints;
using proof::fingerprint;
using proof::SessionVerdict;
using test::run;

constexpr std::uint32_t prompt_tokens = 45;
constexpr std::uint32_t generated_tokens = 100;

std::unique_ptr<test::OpenModel> open(const std::string& name) {
  const auto path = weft::test::find_data("models/" + name + ".gguf");
  return path ? std::move(*test::open_model(*path)) : nullptr;
}

std::vector<Token> prompt_of(const test::OpenModel& model) {
  const auto tokenizer = tokenizer::Tokenizer::create(model.file.metadata);
  std::vector<Token> tokens =
      (*tokenizer)->encode(test::shakespeare(1000), {.add_special = true}).value();
  tokens.resize(prompt_tokens);
  return tokens;
}

struct Session {
  std::vector<Token> tokens;             // The tokens of the prompt and the answer.
  std::vector<ByteVector> fingerprints;  // One fingerprint for each position that has one.
};

// Draws a session greedily, and stops at each position that has a fingerprint.
Async<Result<Session>> generate(Engine& engine, std::vector<Token> prompt) {
  Session session{.tokens = std::move(prompt), .fingerprints = {}};
  WEFT_CO_ASSIGN(const SequenceId sequence, engine.open());
  const std::vector<std::uint32_t> positions =
      proof::fingerprint_positions(prompt_tokens + generated_tokens);
  std::size_t next = 0;
  // The prompt is read in parts that end at positions with a fingerprint.
  std::uint32_t done = 0;
  const auto take = [&](const std::vector<float>& hidden) -> Result<> {
    WEFT_ASSIGN(ByteVector bytes, fingerprint(hidden));
    session.fingerprints.push_back(std::move(bytes));
    ++next;
    return {};
  };
  while (done < prompt_tokens) {
    const std::uint32_t end = std::min(positions[next] + 1, prompt_tokens);
    std::vector<Token> part(session.tokens.begin() + done, session.tokens.begin() + end);
    WEFT_CO_OK(co_await engine.append(sequence, std::move(part)));
    done = end;
    if (done == positions[next] + 1) {
      WEFT_CO_ASSIGN(const std::vector<float> hidden, co_await engine.last_hidden(sequence));
      WEFT_CO_OK(take(hidden));
    }
  }
  while (done < prompt_tokens + generated_tokens) {
    std::vector<SequenceId> one{sequence};
    WEFT_CO_ASSIGN(const auto drawn, co_await engine.draw(std::move(one), positions[next] - done));
    session.tokens.push_back(drawn[0].token);
    ++done;
    if (done == positions[next] + 1) {
      WEFT_CO_ASSIGN(const std::vector<float> hidden, co_await engine.last_hidden(sequence));
      WEFT_CO_OK(take(hidden));
    }
  }
  engine.close(sequence);
  co_return session;
}

Async<Result<std::vector<float>>> prefill(Engine& engine, std::vector<Token> tokens) {
  WEFT_CO_ASSIGN(const SequenceId sequence, engine.open());
  WEFT_CO_ASSIGN(std::vector<float> hidden,
                 co_await engine.forward_tokens(sequence, std::move(tokens)));
  engine.close(sequence);
  co_return hidden;
}

// Reads the tokens one by one, as they are drawn, so that the kernels for drawing are used, which
// round activations if the options ask for it.
Async<Result<std::vector<float>>> read_one_by_one(Engine& engine, std::vector<Token> tokens) {
  WEFT_CO_ASSIGN(const SequenceId sequence, engine.open());
  std::vector<float> out;
  for (const Token token : tokens) {
    std::vector<Token> one{token};
    WEFT_CO_ASSIGN(const std::vector<float> hidden,
                   co_await engine.forward_tokens(sequence, std::move(one)));
    out.insert(out.end(), hidden.begin(), hidden.end());
  }
  engine.close(sequence);
  co_return out;
}

SessionVerdict verdict(const Session& session, const std::vector<float>& hidden,
                       const Engine& engine, const std::string& what,
                       const proof::FingerprintTolerance& tolerance = {}) {
  const SessionVerdict out =
      check_fingerprints(session.fingerprints, hidden, engine.config().embedding, tolerance);
  std::printf("  %-42s error %.2e, missing %.3f: %s\n", what.c_str(), out.farthest.error,
              out.farthest.missing, out.accepted ? "accepted" : "refused");
  return out;
}

class FingerprintOf : public test::GpuEngineTest,
                      public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Models, FingerprintOf,
                         testing::Values("tiny-llama-chat", "tiny-qwen2-chat", "tiny-qwen35-chat"),
                         test::test_name);

TEST_P(FingerprintOf, IsAcceptedByEveryHonestEngine) {
  for (const char* bits : {"f16", "q8_0"}) {
    const auto model = open(std::string(GetParam()) + "-" + bits);
    if (!model) GTEST_SKIP() << "no WEFT_DATA";
    const auto cpu = create_cpu_engine(model->model, *model->source, {.context = 512}).value();
    const auto gpu = engine_of(*model, {.context = 512});
    const auto by_cpu = run_now(generate(*cpu, prompt_of(*model)));
    const auto by_gpu = run(generate(*gpu, prompt_of(*model)));
    ASSERT_TRUE(by_cpu.has_value()) << by_cpu.error().message;
    ASSERT_TRUE(by_gpu.has_value()) << by_gpu.error().message;
    for (const ByteVector& bytes : by_gpu->fingerprints) EXPECT_LE(bytes.size(), 258U);

    const std::string name = std::string(bits) + " ";
    EXPECT_TRUE(verdict(*by_cpu, run_now(prefill(*cpu, by_cpu->tokens)).value(), *cpu,
                        name + "by cpu, checked by cpu", proof::f32_tolerance)
                    .accepted);
    EXPECT_TRUE(verdict(*by_cpu, run(prefill(*gpu, by_cpu->tokens)).value(), *cpu,
                        name + "by cpu, checked by gpu")
                    .accepted);
    EXPECT_TRUE(verdict(*by_gpu, run_now(prefill(*cpu, by_gpu->tokens)).value(), *cpu,
                        name + "by gpu, checked by cpu")
                    .accepted);
    EXPECT_TRUE(verdict(*by_gpu, run(prefill(*gpu, by_gpu->tokens)).value(), *cpu,
                        name + "by gpu, checked by gpu")
                    .accepted);
  }
}

using Fingerprints = test::GpuEngineTest;

// The weights that a worker promised and the weights that it ran.
struct Exchange {
  const char* promised;
  const char* ran;
};

TEST_F(Fingerprints, TellExchangedWeights) {
  const proof::FingerprintTolerance usual, rounded = proof::rounded_tolerance,
                                           exact = proof::f32_tolerance;
  struct Row {
    Exchange exchange;
    proof::FingerprintTolerance refused_by;  // The tolerance that every single fingerprint exceeds.
  };
  for (const Row& row : {Row{{"tiny-llama-chat-f16", "tiny-llama-chat-q8_0"}, exact},
                         {{"tiny-llama-chat-f16", "tiny-llama-chat-q4_0"}, rounded},
                         {{"tiny-llama-chat-q8_0", "tiny-llama-chat-q4_0"}, rounded},
                         {{"tiny-llama-chat-f16", "tiny-llama-chat-q4_k_m"}, usual},
                         {{"tiny-qwen2-chat-f16", "tiny-qwen2-chat-q4_k_m"}, usual},
                         {{"tiny-qwen35-chat-f16", "tiny-qwen35-chat-q4_k_m"}, usual}}) {
    const auto promised = open(row.exchange.promised), ran = open(row.exchange.ran);
    if (!promised || !ran) GTEST_SKIP() << "no WEFT_DATA";
    const auto auditor =
        create_cpu_engine(promised->model, *promised->source, {.context = 512}).value();
    const auto worker = engine_of(*ran, {.context = 512});
    const Session session = run(generate(*worker, prompt_of(*ran))).value();

    const std::vector<float> hidden = run_now(prefill(*auditor, session.tokens)).value();
    const std::string what = std::string(row.exchange.ran) + " for " + row.exchange.promised;
    EXPECT_FALSE(verdict(session, hidden, *auditor, what, row.refused_by).accepted) << what;
    const std::size_t width = auditor->config().embedding;
    const auto positions =
        proof::fingerprint_positions(static_cast<std::uint32_t>(session.tokens.size()));
    for (std::size_t i = 0; i < positions.size(); ++i) {
      const auto distance =
          proof::fingerprint_distance(session.fingerprints[i],
                                      std::span(hidden).subspan(positions[i] * width, width))
              .value();
      EXPECT_GT(distance.error, row.refused_by.error_max)
          << what << " at position " << positions[i];
    }
  }
}

// A session with int8 activations or a q8_0 cache, which rounds before every product, is accepted
// by an engine with the same options within the wider tolerance.
TEST_F(Fingerprints, OfRoundedSessionsAreAcceptedByTheLike) {
  const auto model = open("tiny-llama-chat-q8_0");
  if (!model) GTEST_SKIP() << "no WEFT_DATA";
  for (const EngineOptions& options :
       {EngineOptions{.context = 512, .kv = KvFormat::q8_0},
        EngineOptions{.context = 512, .activations = Activations::int8}}) {
    const auto cpu = create_cpu_engine(model->model, *model->source, options).value();
    const auto gpu = engine_of(*model, options);
    const Session session = run(generate(*gpu, prompt_of(*model))).value();
    const std::string what = std::string("kv ") + std::string(to_string(options.kv)) +
                             ", activations " + std::string(to_string(options.activations));
    EXPECT_TRUE(verdict(session, run(prefill(*gpu, session.tokens)).value(), *gpu, what + ", gpu",
                        proof::rounded_tolerance)
                    .accepted);
    EXPECT_TRUE(verdict(session, run_now(prefill(*cpu, session.tokens)).value(), *cpu,
                        what + ", cpu", proof::rounded_tolerance)
                    .accepted);
  }
}

TEST_F(Fingerprints, OfAnotherTextAreRefused) {
  const auto model = open("tiny-llama-chat-f16");
  if (!model) GTEST_SKIP() << "no WEFT_DATA";
  const auto cpu = create_cpu_engine(model->model, *model->source, {.context = 512}).value();
  Session session = run_now(generate(*cpu, prompt_of(*model))).value();
  // Changes a token that is before most fingerprints.
  session.tokens[40] = session.tokens[40] == 5 ? 6 : 5;

  EXPECT_FALSE(
      verdict(session, run_now(prefill(*cpu, session.tokens)).value(), *cpu, "another text")
          .accepted);
}

// Runs the layers one by one, with rows rounded to f16 between them and an f16 cache: f16
// arithmetic as the CPU can compute it.
Result<std::vector<float>> read_in_halves(const test::OpenModel& model,
                                          const std::vector<Token>& tokens) {
  std::vector<float> rows;
  for (std::uint32_t layer = 0; layer < model.model.config.layers; ++layer) {
    WEFT_ASSIGN(const auto engine, create_cpu_engine(model.model, *model.source,
                                                     {.layers = {.begin = layer, .end = layer + 1},
                                                      .context = 512,
                                                      .activations = Activations::f32}));
    WEFT_ASSIGN(const SequenceId sequence, engine->open());
    if (layer == 0) {
      WEFT_ASSIGN(rows, run_now(engine->forward_tokens(sequence, tokens)));
    } else {
      WEFT_ASSIGN(rows, run_now(engine->forward(sequence, std::move(rows))));
    }
    for (float& value : rows) value = proof::from_half(proof::to_half(value));
  }
  return rows;
}

// Q8_0 weights that are used instead of F16 weights are found by likelihoods (smaller_weights.h):
// an auditor reads the text with both weights, and decides for each fingerprint which of the two
// weights it comes from, whatever arithmetic made it.
TEST_P(FingerprintOf, TellsQ8ForF16InEachArithmeticByLikelihoods) {
  if (std::string_view(GetParam()) != "tiny-llama-chat" && !weft::test::long_tests())
    GTEST_SKIP() << "takes long on a software device; set WEFT_LONG.";
  const auto f16 = open(std::string(GetParam()) + "-f16"),
             q8 = open(std::string(GetParam()) + "-q8_0");
  if (!f16 || !q8) GTEST_SKIP() << "no WEFT_DATA";
  const std::size_t width = f16->model.config.embedding;
  const auto tokenizer = tokenizer::Tokenizer::create(f16->file.metadata).value();
  std::vector<Token> text =
      tokenizer->encode(test::shakespeare(6000), {.add_special = true}).value();
  // The quick run reads less text: 32 tokens are enough to tell the two weights apart.
  const std::size_t part = weft::test::long_tests() ? 480 : 96,
                    parts_max = weft::test::long_tests() ? 3 : 1;
  struct Arithmetic {
    const char* name;
    std::function<std::vector<float>(const test::OpenModel&, const std::vector<Token>&)> read;
  };
  const auto on_cpu = [](const EngineOptions& options) {
    return [options](const test::OpenModel& model, const std::vector<Token>& tokens) {
      const auto engine = create_cpu_engine(model.model, *model.source, options).value();
      return run_now(prefill(*engine, tokens)).value();
    };
  };
  const auto on_gpu = [&](const EngineOptions& options) {
    return [this, options](const test::OpenModel& model, const std::vector<Token>& tokens) {
      const auto engine = engine_of(model, options);
      return run(prefill(*engine, tokens)).value();
    };
  };
  // The tokens are read one by one, because only the kernels for drawing round activations.
  const auto drawn_on_gpu = [&](Activations activations) {
    return [this, activations](const test::OpenModel& model, const std::vector<Token>& tokens) {
      const auto engine = engine_of(model, {.context = 512, .activations = activations});
      return run(read_one_by_one(*engine, tokens)).value();
    };
  };
  const EngineOptions plain{.context = 512};
  const std::vector<Arithmetic> all{
      {"f32, processor", on_cpu(plain)},
      {"f32, GPU", on_gpu(plain)},
      {"f16 between layers",
       [](const auto& model, const auto& tokens) { return read_in_halves(model, tokens).value(); }},
      {"int8, GPU", drawn_on_gpu(Activations::int8)},
      {"f16, GPU", drawn_on_gpu(Activations::f16)}};
  // The part of the text that an auditor reads; it is the same for each arithmetic.
  struct Part {
    std::vector<Token> tokens;
    std::vector<float> promised, other;
  };
  std::vector<Part> parts;
  for (std::size_t at = 0; at + part <= text.size() && at < parts_max * part; at += part) {
    const std::vector<Token> tokens(text.begin() + static_cast<std::ptrdiff_t>(at),
                                    text.begin() + static_cast<std::ptrdiff_t>(at + part));
    parts.push_back({tokens, on_cpu(plain)(*f16, tokens), on_cpu(plain)(*q8, tokens)});
  }
  for (const Arithmetic& arithmetic : all) {
    for (const bool smaller : {false, true}) {
      double sum = 0, most = 0, farthest = 0;
      std::size_t tokens_needed = 0, read = 0;
      for (const auto& [tokens, promised, other] : parts) {
        const auto said = arithmetic.read(smaller ? *q8 : *f16, tokens);
        const auto row = [&](const std::vector<float>& of, std::uint32_t position) {
          return std::span(of).subspan(position * width, width);
        };
        for (const std::uint32_t position :
             proof::fingerprint_positions(static_cast<std::uint32_t>(part))) {
          const auto claim = fingerprint(row(said, position)).value();
          sum += proof::smaller_weights_ratio(claim, row(promised, position), row(other, position))
                     .value();
          read += proof::fingerprint_interval;
          most = std::max(most, sum);
          if (tokens_needed == 0 && sum >= proof::ratio_least) tokens_needed = read;
          farthest = std::max(farthest,
                              proof::fingerprint_distance(claim, row(promised, position))->error);
        }
      }
      std::printf("  %-20s %-6s farthest %.2e, ratio %9.1f after %zu tokens, found after %zu\n",
                  arithmetic.name, smaller ? "Q8_0" : "honest", farthest, sum, read, tokens_needed);
      if (smaller) {
        EXPECT_GT(tokens_needed, 0U) << arithmetic.name;
        EXPECT_LE(tokens_needed, 4096U) << arithmetic.name;
      } else {
        EXPECT_LT(most, proof::ratio_least) << arithmetic.name;
        EXPECT_LT(sum, 0) << arithmetic.name;
      }
    }
  }
}

}  // namespace
}  // namespace weft::llm
