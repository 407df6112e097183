// Audits of answers of real models: the Desk and real workers with real engines in one thread, with
// their messages encoded and decoded. Auditors confirm the answers of honest workers, on any
// device, alone or in chains. A worker that serves smaller weights than it promised is found.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>

#include "apps/cli/test_served_network.h"

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
