#include "apps/bench/bench_embed.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <random>

#include <glaze/glaze.hpp>

#include "apps/cli/exit_code.h"
#include "common/base/format.h"

namespace weft::cli {
namespace {

using Clock = std::chrono::steady_clock;

double elapsed_s(Clock::time_point begun) {
  return std::chrono::duration<double>(Clock::now() - begun).count();
}

std::vector<std::vector<llm::Token>> random_texts(const BenchEmbedOptions& options,
                                                  std::uint32_t vocabulary) {
  std::mt19937 random(1);
  std::vector<std::vector<llm::Token>> out(options.texts);
  for (auto& text : out) {
    for (std::uint32_t i = 0; i < options.tokens; ++i)
      text.push_back(static_cast<llm::Token>(random() % vocabulary));
  }
  return out;
}

}  // namespace

Result<BenchEmbedResult> bench_embed(const BenchEmbedOptions& options) {
  if (options.texts == 0 || options.tokens == 0 || options.rounds == 0)
    return fail(ErrorCode::invalid_argument,
                "There is nothing to measure: --texts, --tokens and --rounds are at least 1.");
  const Clock::time_point begun = Clock::now();
  WEFT_ASSIGN(const auto model, EmbeddingModel::open(options.model));
  BenchEmbedResult out{.model = std::filesystem::path(options.model.model).filename().string(),
                       .test = weft::format("{}x{}", options.texts, options.tokens),
                       .unit = "token/s",
                       .rounds = options.rounds,
                       .values = {},
                       .architecture = model->config().architecture,
                       .device = model->device(),
                       .activations = options.model.activations,
                       .load_s = elapsed_s(begun)};
  const auto texts = random_texts(options, model->config().vocabulary);
  // Warms up, because the clock of an idle device is low during the first calls.
  const Clock::time_point warming = Clock::now();
  do {
    WEFT_OK(model->embed(texts));
  } while (elapsed_s(warming) < options.warm_up_s);
  for (std::uint32_t round = 0; round < options.rounds; ++round) {
    const Clock::time_point round_begun = Clock::now();
    WEFT_OK(model->embed(texts));
    out.values.push_back(static_cast<double>(std::uint64_t{options.texts} * options.tokens) /
                         elapsed_s(round_begun));
  }
  std::vector<double> sorted = out.values;
  std::ranges::sort(sorted);
  out.min = sorted.front();
  out.max = sorted.back();
  out.value = sorted[sorted.size() / 2];
  return out;
}

int bench_embed_command(const BenchEmbedOptions& options) {
  const auto result = bench_embed(options);
  if (!result) return report("bench embed", result.error());
  if (options.json) {
    std::string text;
    // Cannot fail: the document has only strings and numbers.
    (void)glz::write_json(*result, text);
    std::fputs((text + "\n").c_str(), stdout);
    return 0;
  }
  std::fputs(weft::format("{}  {}\n{}, loaded in {:.2f} s\n{:<8} {:>12.1f} token/s  ({:.1f} to "
                          "{:.1f} in {} rounds)\n",
                          result->model, result->architecture, result->device, result->load_s,
                          result->test, result->value, result->min, result->max, result->rounds)
                 .c_str(),
             stdout);
  return 0;
}

}  // namespace weft::cli
