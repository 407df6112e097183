// Audits of answers of real models: the Desk and real workers with real engines in one thread, with
// their messages encoded and decoded. Auditors confirm the answers of honest workers, on any
// device, alone or in chains. A worker that serves smaller weights than it promised is found, and
// one that serves Q8_0 for F16 by a root that weighs its answers.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>

#include "apps/cli/test_served_network.h"
#include "common/base/long_tests.h"
#include "common/proof/smaller_weights.h"

namespace weft::cli {
using namespace served_network;

namespace {

class ServedAudits : public testing::Test {
 protected:
  std::unique_ptr<OpenModel> f16 = open_model("tiny-llama-chat-f16");
  void SetUp() override {
    if (!f16) GTEST_SKIP() << weft::test::missing_data("models/tiny-llama-chat-f16.gguf");
  }
};

TEST_F(ServedAudits, WhatAProcessorAnswersAGpuConfirms) {
  Network network(*f16);
  network.join();
  network.until_serving(1);
  network.join({.gpu = true});
  network.until_serving(2);
  const auto end = network.ask();

  EXPECT_EQ(network.audit(end).verdict, billing::AnswerVerdict::agrees);
  EXPECT_EQ(end.work.size(), 1U);
  const std::uint64_t layers = f16->model.config.layers;
  EXPECT_EQ(end.work[0].work, (end.prompt_tokens + answer_tokens) * layers);
}

TEST_F(ServedAudits, WhatAGpuAnswersAProcessorConfirms) {
  Network network(*f16);
  network.join({.gpu = true});
  network.until_serving(1);
  network.join();
  network.until_serving(2);

  EXPECT_EQ(network.audit(network.ask()).verdict, billing::AnswerVerdict::agrees);
  EXPECT_EQ(network.audit(network.ask()).verdict, billing::AnswerVerdict::agrees)
      << "with the prompt read before";
}

TEST_F(ServedAudits, WhatAChainAnswersIsConfirmedByOneWorkerAndSharedByLayers) {
  Network network(*f16, 2);
  network.join();
  network.join();
  network.until_serving(2);
  const auto end = network.ask();
  network.join();
  network.until([&] { return network.desk_.workers().size() == 3; }, "the third has joined");

  EXPECT_EQ(network.audit(end).verdict, billing::AnswerVerdict::agrees);
  ASSERT_EQ(end.work.size(), 2U);
  EXPECT_EQ(end.work[0].work + end.work[1].work,
            std::uint64_t{end.prompt_tokens + answer_tokens} * f16->model.config.layers);
}

struct Cheat {
  bool gpu;
  const char* activations;
};
class ServedCheats : public ServedAudits, public testing::WithParamInterface<Cheat> {};

TEST_P(ServedCheats, ThatServeSmallerWeightsAreFoundOut) {
  const auto [gpu, activations] = GetParam();
  const auto q4 = open_model("tiny-llama-chat-q4_0");
  if (!q4) GTEST_SKIP() << weft::test::missing_data("models/tiny-llama-chat-q4_0.gguf");
  Network network(*f16, 1, activations);
  network.join({.gpu = gpu, .instead = q4.get()});
  network.until_serving(1);
  network.join({.gpu = !gpu});
  network.until_serving(2);

  const auto end = network.ask();
  EXPECT_LE(end.answered.size(), 256U);
  const auto verdict = network.audit(end);

  EXPECT_EQ(verdict.verdict, billing::AnswerVerdict::differs);
  EXPECT_GT(verdict.error, 0.02) << "far from the tolerance";
  EXPECT_EQ(verdict.doubtful, 0U) << "its fingerprints are enough";
}
// Honest workers with the arithmetic of the cheating ones.
TEST_P(ServedCheats, ThatServeTheRightWeightsAreNone) {
  const auto [gpu, activations] = GetParam();
  Network network(*f16, 1, activations);
  network.join({.gpu = gpu});
  network.until_serving(1);
  network.join({.gpu = !gpu});
  network.until_serving(2);
  EXPECT_EQ(network.audit(network.ask()).verdict, billing::AnswerVerdict::agrees);
}
TEST_F(ServedAudits, EightBitsForSixteenAreFoundBetweenProcessors) {
  const auto q8 = open_model("tiny-llama-chat-q8_0");
  if (!q8) GTEST_SKIP() << weft::test::missing_data("models/tiny-llama-chat-q8_0.gguf");
  Network network(*f16);
  network.join({.instead = q8.get()});
  network.until_serving(1);
  network.join();
  network.until_serving(2);

  const auto end = network.ask();
  EXPECT_TRUE(end.exact);
  const auto verdict = network.audit(end);

  EXPECT_EQ(verdict.verdict, billing::AnswerVerdict::differs);
  EXPECT_GT(verdict.error, proof::f32_tolerance.error_max);
  EXPECT_LT(verdict.error, 0.01) << "near the usual tolerance, which some of them pass";
}

TEST_F(ServedAudits, HonestProcessorsAreWithinTheirTolerance) {
  Network network(*f16);
  network.join();
  network.until_serving(1);
  network.join();
  network.until_serving(2);
  const auto end = network.ask();
  EXPECT_TRUE(end.exact);
  EXPECT_EQ(network.audit(end).verdict, billing::AnswerVerdict::agrees);
}

// A worker and a root that weighs its answers, on a processor or on the GPU.
struct Weighed {
  bool gpu;
  const char* activations;
  bool root_gpu;
};
class ServedWeighings : public ServedAudits, public testing::WithParamInterface<Weighed> {
 protected:
  std::unique_ptr<OpenModel> q8 = open_model("tiny-llama-chat-q8_0");
  // The sum of a worker's ratios over answers with different seeds, until the bound is reached or
  // all answers are read; and the number of read tokens.
  struct Sum {
    double sum = 0;
    double highest = -1e9;  // The highest ratio of one fingerprint.
    std::size_t tokens = 0;
  };
  Sum weigh(const OpenModel* instead, std::size_t tokens_max) {
    const auto [gpu, activations, root_gpu] = GetParam();
    Network network(*f16, 1, activations);
    network.join({.gpu = gpu, .instead = instead});
    network.until_serving(1);
    network.join({.gpu = root_gpu, .root = true});
    network.until_serving(2);
    Sum out;
    for (std::uint64_t seed = 1; out.tokens < tokens_max && !HasFailure(); ++seed) {
      const inference::AnswerEnd end = network.ask([&](wire::Ask& ask) {
        ask.temperature = 1;
        ask.seed = seed;
      });
      const billing::AuditReading reading = network.audit(end);
      EXPECT_EQ(reading.ratios.size(), 4U) << "after 0, 32, 64 and 70 tokens";
      if (instead == nullptr) {
        EXPECT_EQ(reading.verdict, billing::AnswerVerdict::agrees) << reading.reason;
      }
      for (const double ratio : reading.ratios) {
        out.sum = proof::add_ratios(out.sum, std::vector{ratio}).sum;
        out.highest = std::max(out.highest, ratio);
        out.tokens += answer_tokens / reading.ratios.size();
        std::printf("  ratio %.1f, sum %.1f\n", ratio, out.sum);
        if (out.sum >= proof::ratio_least) return out;
      }
    }
    return out;
  }
};

TEST_P(ServedWeighings, OfQ8ForF16ShowIt) {
  if (!q8) GTEST_SKIP() << weft::test::missing_data("models/tiny-llama-chat-q8_0.gguf");
  const std::size_t promised = std::string_view(GetParam().activations) == "f32" ? 64 : 4096;
  const Sum sum = weigh(q8.get(), promised);
  EXPECT_GE(sum.sum, proof::ratio_least);
  EXPECT_LE(sum.tokens, promised);
}
TEST_P(ServedWeighings, OfHonestAnswersStayAtZero) {
  const Sum sum = weigh(nullptr, weft::test::long_tests() ? 4096 : 140);
  EXPECT_EQ(sum.sum, 0);
  EXPECT_LT(sum.highest, 0);
}
INSTANTIATE_TEST_SUITE_P(OnGpuOrNot, ServedWeighings,
                         testing::Values(Weighed{true, "f32", false}, Weighed{true, "f16", false},
                                         Weighed{false, "f32", true}),
                         [](const testing::TestParamInfo<Weighed>& row) {
                           return std::string(row.param.gpu ? "gpu_" : "cpu_") +
                                  row.param.activations;
                         });

TEST_F(ServedAudits, AreNotWeighedWithActivationsInInt8) {
  Network network(*f16, 1, "int8");
  network.join();
  network.until_serving(1);
  network.join({.root = true});
  network.until_serving(2);

  const auto reading = network.audit(network.ask());

  EXPECT_EQ(reading.verdict, billing::AnswerVerdict::agrees);
  EXPECT_TRUE(reading.ratios.empty());
}

// The root that weighs serves and stands by with other layers than those that weigh.
TEST_F(ServedAudits, ARootThatWeighsAlsoAnswers) {
  Network network(*f16);
  const auto first = network.join();
  network.until_serving(1);
  network.join({.root = true});
  network.until_serving(2);
  EXPECT_EQ(network.audit(network.ask()).ratios.size(), 4U);

  network.desk_.left(first, weft::now());

  const auto end = network.ask();
  EXPECT_EQ(end.work.at(0).worker, Network::key_of(2));
}

// Settings of draws. The workers of the tests below run the right weights and report true
// fingerprints, but they draw tokens with settings other than those of the client.
struct Drawing {
  const char* name;
  std::function<void(wire::Ask&)> ask;      // Settings of the client.
  std::function<void(wire::Ask&)> changes;  // The worker's changes to the client's settings.
};
class ServedDrawings : public ServedAudits, public testing::WithParamInterface<Drawing> {};

TEST_P(ServedDrawings, ThatAreNotTheSettingsAreFoundOut) {
  const Drawing& drawing = GetParam();
  Network network(*f16);
  network.join({.gpu = true, .changes = drawing.changes});
  network.until_serving(1);
  network.join();
  network.until_serving(2);

  const auto verdict = network.audit(network.ask(drawing.ask));

  EXPECT_EQ(verdict.verdict, billing::AnswerVerdict::differs);
  EXPECT_GE(verdict.doubtful, 2U) << verdict.reason;
  EXPECT_LT(verdict.error, 0.005);
}
TEST_P(ServedDrawings, ThatAreTheSettingsAreConfirmed) {
  Network network(*f16);
  network.join({.gpu = true});
  network.until_serving(1);
  network.join();
  network.until_serving(2);
  const auto verdict = network.audit(network.ask(GetParam().ask));
  EXPECT_EQ(verdict.verdict, billing::AnswerVerdict::agrees) << verdict.reason;
}
const std::string grammar_of_letters = R"(root ::= [a-m ]+)";
INSTANTIATE_TEST_SUITE_P(
    Settings, ServedDrawings,
    testing::Values(
        Drawing{"greedy",
                {},
                [](wire::Ask& ask) {
                  ask.temperature = 0.6;
                  ask.seed = 1;
                }},
        Drawing{"seed",
                [](wire::Ask& ask) {
                  ask.temperature = 1;
                  ask.seed = 7;
                },
                [](wire::Ask& ask) { ask.seed = 8; }},
        Drawing{"colder",
                [](wire::Ask& ask) {
                  ask.temperature = 1.2;
                  ask.top_p = 0.95;
                  ask.seed = 7;
                },
                [](wire::Ask& ask) { ask.temperature = 0.3; }},
        Drawing{"penalties",
                [](wire::Ask& ask) {
                  ask.repetition_penalty = 1.5;
                  ask.frequency_penalty = 1;
                },
                [](wire::Ask& ask) {
                  ask.repetition_penalty = 1;
                  ask.frequency_penalty = 0;
                }},
        // Forbids the most likely words of the answer, so that the worker draws other words.
        Drawing{"second best",
                {},
                [](wire::Ask& ask) {
                  for (std::int32_t token = 300; token < 1300; ++token)
                    ask.bias.push_back({.token = token, .bias = -100});
                }},
        Drawing{"without the bias",
                [](wire::Ask& ask) {
                  for (std::int32_t token = 300; token < 1300; ++token)
                    ask.bias.push_back({.token = token, .bias = -100});
                },
                [](wire::Ask& ask) { ask.bias.clear(); }},
        Drawing{"without the grammar",
                [](wire::Ask& ask) {
                  ask.format = "gbnf";
                  ask.rule = grammar_of_letters;
                },
                [](wire::Ask& ask) {
                  ask.format.clear();
                  ask.rule.clear();
                }}),
    [](const testing::TestParamInfo<Drawing>& row) {
      std::string name = row.param.name;
      std::ranges::replace(name, ' ', '_');
      return name;
    });

INSTANTIATE_TEST_SUITE_P(OnGpuOrNot, ServedCheats,
                         testing::Values(Cheat{false, "f32"}, Cheat{true, "f32"},
                                         Cheat{false, "int8"}, Cheat{true, "int8"}),
                         [](const testing::TestParamInfo<Cheat>& row) {
                           return std::string(row.param.gpu ? "gpu_" : "cpu_") +
                                  row.param.activations;
                         });

}  // namespace
}  // namespace weft::cli
