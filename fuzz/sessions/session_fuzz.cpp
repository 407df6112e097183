// Histories of hostile, plausible and honest clients, workers and model servers at one coordinator:
// README.md.
//   session_fuzz [--seconds S] [--seed N] [--jobs J] [--state FILE] [--keep DIR] [--replay DIR]
//   session_fuzz --history SEED
#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "fuzz/sessions/coordinator_process.h"
#include "fuzz/sessions/history.h"
#include "fuzz/sessions/supervisor.h"

// trantor never frees a call that is queued to an event loop after the loop's end, as when a
// coordinator stops while it sends. NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" const char* __lsan_default_suppressions() {
  return "leak:trantor::EventLoop::queueInLoop\n";
}

namespace {

template <class Number>
bool read(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

int one_history(std::uint64_t seed) {
  std::signal(SIGPIPE, SIG_IGN);
  const auto outcome = weft::sessions::run_history(seed);
  if (!outcome.trouble.empty())
    std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), outcome.trouble.c_str());
  for (const auto& [what, count_of] : outcome.counts)
    std::printf("  %6zu %s\n", count_of, what.c_str());
  std::printf("history %zu %zu %zu\n", outcome.events, outcome.restarts, outcome.plain_jobs);
  return outcome.trouble.empty() ? 0 : 1;
}

int wrong(std::string_view argument) {
  std::fprintf(stderr,
               "session_fuzz does not take '%.*s'. It takes --seconds S --seed N --jobs J --state "
               "FILE --keep DIR --replay DIR, or --history SEED.\n",
               static_cast<int>(argument.size()), argument.data());
  return 2;
}

}  // namespace

int main(int count, char** arguments) {
  weft::sessions::RunOptions options;
  for (int i = 1; i < count; ++i) {
    const std::string_view name = arguments[i];
    if (i + 1 >= count) return wrong(name);
    const std::string_view value = arguments[++i];
    std::uint64_t seed = 0;
    if (name == "--coordinator") {
      weft::sessions::Endpoint at;
      if (i + 3 >= count || !read(value, at.address) || !read(arguments[i + 1], at.port) ||
          !read(arguments[i + 3], seed))
        return wrong(name);
      return weft::sessions::serve(at, arguments[i + 2], seed);
    }
    if (name == "--history") return read(value, seed) ? one_history(seed) : wrong(value);
    bool good = true;
    if (name == "--seconds") {
      good = read(value, options.seconds);
    } else if (name == "--seed") {
      good = read(value, options.seed);
    } else if (name == "--jobs") {
      good = read(value, options.jobs) && options.jobs > 0;
    } else if (name == "--state") {
      options.state = value;
    } else if (name == "--keep") {
      options.keep = value;
    } else if (name == "--replay") {
      std::error_code error;
      for (const auto& entry : std::filesystem::directory_iterator(value, error)) {
        if (entry.path().extension() != ".seed") continue;
        std::ifstream file(entry.path());
        if (file >> seed) options.replay.push_back(seed);
      }
      std::ranges::sort(options.replay);
      good = !error;
    } else {
      return wrong(name);
    }
    if (!good) return wrong(value);
  }
  return weft::sessions::run_histories(options);
}
