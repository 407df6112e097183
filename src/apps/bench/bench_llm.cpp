#include "apps/bench/bench_llm.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <unistd.h>

#include <glaze/glaze.hpp>

#include "apps/cli/exit_code.h"
#include "apps/cli/interruption.h"
#include "apps/cli/progress.h"
#include "common/base/clock.h"
#include "common/base/format.h"
#include "common/base/guarded.h"
#include "engine/gpu/native/instance.h"

namespace weft::cli {

struct BenchLlmDocument {
  bool interrupted = false;
  std::vector<BenchLlmRow> rows;
};

namespace {

// The time after Ctrl-C in which running work may finish: enough for a token or a part of a prompt,
// but not for loading a file or for a long prompt.
constexpr auto end_max = std::chrono::milliseconds(500);

constexpr auto look_every = std::chrono::milliseconds(50);

struct WriteOptions : glz::opts {
  bool escape_control_characters = true;
};

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// Completes the device's name: "cpu" and "gpu" stay, another name is looked up as part of a GPU's
// name.
Result<> name_device(LanguageModelOptions& options) {
  if (options.device == "cpu" || options.device == "gpu") return {};
  const auto instance = gpu::native::create_instance();
  WEFT_ASSIGN(const auto adapters, gpu::run(*instance, instance->adapters()));
  std::string names;
  for (std::size_t i = 0; i < adapters.size(); ++i) {
    if (lower(adapters[i].device + " " + adapters[i].description).contains(lower(options.device))) {
      options.adapter = i;
      options.device = "gpu";
      return {};
    }
    names += weft::format("{}{}", names.empty() ? "" : ", ", adapters[i].device);
  }
  return fail(ErrorCode::not_found,
              "The device '{}' (--device) is not cpu, gpu or a part of a GPU's name: {}.",
              options.device, names.empty() ? "there is no GPU" : names);
}

Result<> bench_model(const BenchLlmOptions& options, const std::string& path,
                     const std::function<void(BenchLlmRow)>& on_row, const SpeedProgress& progress,
                     const Stop& stop) {
  const std::string name = std::filesystem::path(path).filename().string();
  const SpeedProgress named = [&](std::string_view test, std::uint32_t round,
                                  std::uint32_t rounds) {
    progress(weft::format("{} {}", name, test), round, rounds);
  };
  LanguageModelOptions model_options = options.model;
  model_options.model = path;
  model_options.context = options.tests.context();
  model_options.sequences = options.tests.sequences_max();
  named("load", 0, 1);
  WEFT_ASSIGN(const auto model, LanguageModel::open(model_options));

  const llm::EngineOptions& engine = model->engine().options();
  BenchLlmRow row{.model = name,
                  .test = "load",
                  .value = model->load_s(),
                  .unit = "s",
                  .min = model->load_s(),
                  .max = model->load_s(),
                  .rounds = 1,
                  .values = {model->load_s()},
                  .architecture = model->engine().config().architecture,
                  .device = model->engine().device(),
                  .driver = model->gpu() == nullptr ? "" : model->gpu()->adapter().driver,
                  // The CPU engine always multiplies in f32.
                  .activations = std::string(to_string(
                      model->gpu() == nullptr ? llm::Activations::f32 : engine.activations)),
                  .kv = std::string(to_string(engine.kv)),
                  .weight_bytes = weight_bytes(*model)};
  on_row(row);

  row.unit = "token/s";
  const auto on_speed = [&](const Speed& speed) {
    row.test = speed.test;
    row.value = speed.median();
    row.min = speed.least();
    row.max = speed.most();
    row.rounds = static_cast<std::uint32_t>(speed.rates.size());
    row.values = speed.rates;
    row.tokens = speed.tokens;
    row.depth = speed.depth;
    row.sequences = speed.sequences;
    row.cache_bytes =
        cache_bytes(*model, speed.depth + speed.tokens / speed.sequences, speed.sequences);
    row.weight_gb_per_s = speed.test.starts_with("tg")
                              ? speed.median() / speed.sequences *
                                    static_cast<double>(weight_bytes_of_a_step(*model)) * 1e-9
                              : 0;
    row.dispatches = speed.dispatches;
    row.submits = speed.submits;
    on_row(row);
  };
  return measure_speed(*model, options.tests, on_speed, named, stop);
}

}  // namespace

Result<> bench_llm(const BenchLlmOptions& options, const std::function<void(BenchLlmRow)>& on_row,
                   const SpeedProgress& progress, const Stop& stop) {
  WEFT_OK(check_tests(options.tests));
  BenchLlmOptions named = options;
  WEFT_OK(name_device(named.model));
  for (const std::string& path : options.models) {
    if (stop()) break;
    WEFT_OK(bench_model(named, path, on_row, progress, stop));
  }
  return {};
}

std::string bench_llm_json(const std::vector<BenchLlmRow>& rows, bool was_interrupted) {
  std::string text;
  (void)glz::write<WriteOptions{}>(BenchLlmDocument{.interrupted = was_interrupted, .rows = rows},
                                   // Cannot fail: the document has only strings and numbers.
                                   text);
  return text + "\n";
}

std::string bench_llm_table(const std::vector<BenchLlmRow>& rows) {
  std::string out;
  for (const BenchLlmRow& row : rows) {
    if (row.test == "load") {
      out += weft::format(
          "{}{}  {}, {:.1f} MB of weights, loaded in {:.2f} s\n{}{}, activations {}, kv {}\n",
          out.empty() ? "" : "\n", row.model, row.architecture,
          static_cast<double>(row.weight_bytes) * 1e-6, row.value, row.device,
          row.driver.empty() ? "" : ", " + row.driver, row.activations, row.kv);
      out += weft::format("{:<16} {:>12} {:>12} {:>12} {:>7} {:>9} {:>11} {:>9} {:>10}\n", "test",
                          "token/s", "min", "max", "rounds", "GB/s", "dispatches", "submits",
                          "cache MB");
      continue;
    }
    out += weft::format(
        "{:<16} {:>12.1f} {:>12.1f} {:>12.1f} {:>7} {:>9} {:>11.1f} {:>9.2f} {:>10.1f}\n", row.test,
        row.value, row.min, row.max, row.rounds,
        row.weight_gb_per_s > 0 ? weft::format("{:.1f}", row.weight_gb_per_s) : "-", row.dispatches,
        row.submits, static_cast<double>(row.cache_bytes) * 1e-6);
  }
  return out;
}

int bench_llm_command(const BenchLlmOptions& options) {
  note_interruptions();
  Guarded<std::vector<BenchLlmRow>> rows;
  const auto print = [&](const std::vector<BenchLlmRow>& measured) {
    std::fputs((options.json ? bench_llm_json(measured, interrupted()) : bench_llm_table(measured))
                   .c_str(),
               stdout);
    std::fflush(stdout);
  };
  // Prints the results so far and ends the program if running work does not end in time. Nothing
  // needs to be cleaned up, because no data are stored.
  std::jthread watch([&](const std::stop_token& done) {
    while (!done.stop_requested() && !interrupted()) std::this_thread::sleep_for(look_every);
    const Instant give_up = now() + end_max;
    while (!done.stop_requested() && now() < give_up) std::this_thread::sleep_for(look_every);
    rows.with([&](const auto& measured) {
      if (done.stop_requested()) return;
      // Clears the progress line.
      if (::isatty(STDERR_FILENO) == 1) std::fputs("\r\033[K", stderr);
      print(measured);
      std::_Exit(exit_code(ErrorCode::cancelled));
    });
  });
  const Result<> done = [&] {
    Progress progress("bench llm");
    return bench_llm(
        options,
        [&](BenchLlmRow row) {
          rows.with([&](auto& measured) { measured.push_back(std::move(row)); });
        },
        [&](std::string_view test, std::uint32_t round, std::uint32_t rounds) {
          progress.show(round, rounds, test);
        },
        [] { return interrupted(); });
  }();
  rows.with([&](const auto& measured) {
    watch.request_stop();
    print(measured);
  });
  if (!done) return report("bench llm", done.error());
  return interrupted() ? exit_code(ErrorCode::cancelled) : 0;
}

}  // namespace weft::cli
