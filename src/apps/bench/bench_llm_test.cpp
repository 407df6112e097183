// Tests of the benchmark's rows on small models: every requested test has a row with its rounds, on
// both devices and for recurrent models, and the JSON document contains the measured values. Times
// are not checked.
#include "apps/bench/bench_llm.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "common/base/test_data.h"
#include "common/json/json.h"

namespace weft::cli {
namespace {

struct Measured {
  std::vector<BenchLlmRow> rows;
  std::vector<std::string> progress;
  Result<> done;
};

class BenchLlm : public testing::Test {
 protected:
  static BenchLlmOptions options(std::string_view model, std::string_view device) {
    BenchLlmOptions out;
    out.models = {std::string(model)};
    out.model.device = device;
    out.tests = {.prompt = 12,
                 .tokens = 5,
                 .depths = {0, 9},
                 .sequences = {1, 3},
                 .rounds = 3,
                 .warm_up_s = 0};
    return out;
  }
  static Measured run(const BenchLlmOptions& options, const Stop& stop = [] { return false; }) {
    Measured out;
    out.done = bench_llm(
        options, [&](BenchLlmRow row) { out.rows.push_back(std::move(row)); },
        [&](std::string_view test, std::uint32_t, std::uint32_t) {
          out.progress.emplace_back(test);
        },
        stop);
    return out;
  }
  static std::vector<std::string> tests_of(const std::vector<BenchLlmRow>& rows) {
    std::vector<std::string> tests;
    for (const BenchLlmRow& row : rows) tests.push_back(row.test);
    return tests;
  }
};

class BenchLlmModels : public BenchLlm, public testing::WithParamInterface<std::string> {};
INSTANTIATE_TEST_SUITE_P(Small, BenchLlmModels,
                         testing::Values("models/tiny-llama-chat-q8_0.gguf",
                                         "models/tiny-qwen35-short-q4_k_m.gguf",
                                         "data/gguf/stories260K-f32.gguf"));

TEST_P(BenchLlmModels, MeasuresWhatItIsAskedFor) {
  const auto path = weft::test::find_data(GetParam());
  if (!path) GTEST_SKIP() << "no " << GetParam();
  for (const std::string device : {"cpu", "gpu"}) {
    const Measured result = run(options(path->string(), device));

    ASSERT_TRUE(result.done.has_value()) << result.done.error().message;
    ASSERT_EQ(tests_of(result.rows),
              (std::vector<std::string>{"load", "pp12", "tg5", "tg5@9", "tg5x3", "tg5@9x3"}))
        << device;
    for (const BenchLlmRow& row : result.rows) {
      EXPECT_EQ(row.model, path->filename().string());
      EXPECT_EQ(row.unit, row.test == "load" ? "s" : "token/s");
      EXPECT_EQ(row.rounds, row.test == "load" ? 1u : 3u);
      EXPECT_EQ(row.values.size(), row.rounds);
      EXPECT_GT(row.min, 0);
      EXPECT_LE(row.min, row.value);
      EXPECT_LE(row.value, row.max);
      EXPECT_FALSE(row.architecture.empty());
      EXPECT_EQ(row.device == "cpu", device == "cpu") << row.device;
      EXPECT_EQ(row.kv, "f16");
      EXPECT_GT(row.weight_bytes, 0u);
      const bool draws = row.test.starts_with("tg");
      EXPECT_EQ(row.weight_gb_per_s > 0, draws);
      EXPECT_EQ(row.cache_bytes > 0, row.test != "load");
      EXPECT_EQ(row.dispatches > 0, device == "gpu" && row.test != "load") << row.test;
      if (draws) {
        // Small models put several steps into one submit; no model needs more than one submit a
        // token.
        EXPECT_EQ(row.submits > 0, device == "gpu") << row.test;
        EXPECT_LE(row.submits, 1) << row.test;
      }
    }
    // The number of tokens counts all sequences.
    EXPECT_EQ(result.rows[2].tokens, 5u);
    EXPECT_EQ(result.rows[5].tokens, 15u);
    EXPECT_EQ(result.rows[5].sequences, 3u);
    EXPECT_EQ(result.rows[5].depth, 9u);
  }
}

TEST_F(BenchLlm, WritesItsRowsAsJson) {
  const auto path = weft::test::find_data("models/tiny-llama-chat-q8_0.gguf");
  if (!path) GTEST_SKIP() << "no models";
  BenchLlmOptions asked = options(path->string(), "cpu");
  asked.tests.depths = {0};
  asked.tests.sequences = {1};
  const Measured result = run(asked);
  ASSERT_TRUE(result.done.has_value()) << result.done.error().message;

  const std::string text = bench_llm_json(result.rows, true);

  const auto root = json::parse(text);
  ASSERT_TRUE(root.has_value()) << root.error().message << text;
  const auto document = root->object({"interrupted", "rows"});
  ASSERT_TRUE(document.has_value()) << document.error().message;
  EXPECT_EQ(document->get("interrupted")->boolean().value(), true);
  const auto rows = document->get("rows")->array();
  ASSERT_EQ(rows->size(), 3u);
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const auto row =
        (*rows)[i].object({"model",        "test",        "value",           "unit",
                           "min",          "max",         "rounds",          "values",
                           "architecture", "device",      "driver",          "activations",
                           "kv",           "tokens",      "depth",           "sequences",
                           "weight_bytes", "cache_bytes", "weight_gb_per_s", "dispatches",
                           "submits"});
    ASSERT_TRUE(row.has_value()) << row.error().message;
    EXPECT_EQ(row->get("model")->string().value(), "tiny-llama-chat-q8_0.gguf");
    EXPECT_EQ(row->get("test")->string().value(), result.rows[i].test);
    EXPECT_DOUBLE_EQ(row->get("value")->number().value(), result.rows[i].value);
    EXPECT_EQ(row->get("rounds")->integer().value(), result.rows[i].rounds);
    EXPECT_EQ(row->get("values")->array()->size(), result.rows[i].values.size());
    EXPECT_EQ(row->get("weight_bytes")->integer().value(),
              static_cast<std::int64_t>(result.rows[i].weight_bytes));
  }
  const std::string table = bench_llm_table(result.rows);
  for (const std::string word : {"tiny-llama-chat-q8_0.gguf", "llama", "pp12", "tg5", "GB/s"})
    EXPECT_TRUE(table.contains(word)) << table;
}

TEST_F(BenchLlm, KeepsWhatItHasWhenItIsStopped) {
  const auto path = weft::test::find_data("models/tiny-llama-chat-q8_0.gguf");
  if (!path) GTEST_SKIP() << "no models";
  BenchLlmOptions asked = options(path->string(), "cpu");
  asked.models.push_back(path->string());
  Measured result;
  result.done = bench_llm(
      asked, [&](BenchLlmRow row) { result.rows.push_back(std::move(row)); },
      [&](std::string_view test, std::uint32_t round, std::uint32_t) {
        result.progress.push_back(std::string(test) + " " + std::to_string(round));
      },
      [&] {
        return std::ranges::find(result.progress, "tiny-llama-chat-q8_0.gguf tg5 2") !=
               result.progress.end();
      });

  EXPECT_TRUE(result.done.has_value());
  ASSERT_EQ(tests_of(result.rows), (std::vector<std::string>{"load", "pp12", "tg5"}));
  EXPECT_EQ(result.rows[2].rounds, 2u);  // The third round was stopped.
}

TEST_F(BenchLlm, SaysWhatItCannotDo) {
  BenchLlmOptions nothing = options("none.gguf", "cpu");
  nothing.tests.prompt = nothing.tests.tokens = 0;
  BenchLlmOptions device = options("none.gguf", "a device of that name");

  EXPECT_EQ(run(nothing).done.error().message,
            "With --prompt 0 and --tokens 0 there is nothing to measure; raise one.");
  EXPECT_EQ(run(device).done.error().code, ErrorCode::not_found);
  EXPECT_EQ(run(options("none.gguf", "cpu")).done.error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace weft::cli
