#include "apps/bench/bench_hostile.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

#include <sys/resource.h>

#include "apps/bench/bench_processes.h"
#include "apps/bench/bench_rows.h"
#include "apps/bench/coordinator/crowd.h"
#include "apps/bench/hostile/generator.h"
#include "apps/cli/scratch_folder.h"
#include "common/base/format.h"

namespace weft::cli {

struct BenchHostileRow {
  std::string name;
  double value = 0;
  std::string unit;
  double control = 0;
  std::string goal{};
  bool reached = true;
  std::string note{};
};

namespace {

using coordinator::bench::Attack;
using coordinator::bench::Crowd;
using coordinator::bench::Generator;

// The goal of the p99 latency, or three times the control's p99 if that is longer.
constexpr double p99_ms_max = 20;
constexpr double control_times_max = 3;
// Most MiB by which the peak memory may exceed the control's.
constexpr double memory_mib_max = 512;
constexpr double held_share_min =
    0.9;  // The share of connections that must be open in the control, on average.
// The generator may use this much more of a core than its share.
constexpr double share_above_max = 0.01;
// Longest wait for the generator's connections. Honest clients must not wait longer, because the
// coordinator closes silent connections.
constexpr auto gather_max = std::chrono::seconds(4);

struct Half {
  double p50_ms = 0, p99_ms = 0;
  double memory_mib = 0;  // Peak memory of the coordinator.
  std::uint64_t jobs = 0;
  double open = 0;   // Open connections: the mean of the counts after each part.
  double share = 0;  // Share of a core that the generator used.
  std::vector<Generator::Tally> tallies;
};

class Bench {
 public:
  explicit Bench(const BenchHostileOptions& options) : options_(options) {}

  Result<std::vector<BenchHostileRow>> run() {
    WEFT_ASSIGN(const Half control, half("control", false));
    WEFT_ASSIGN(const Half attack, half("attack", true));
    const double p99_max = std::max(control_times_max * control.p99_ms, p99_ms_max);
    const double above = attack.memory_mib - control.memory_mib;
    std::vector<BenchHostileRow> rows = {
        {.name = "lease_p50", .value = attack.p50_ms, .unit = "ms", .control = control.p50_ms},
        {.name = "lease_p99",
         .value = attack.p99_ms,
         .unit = "ms",
         .control = control.p99_ms,
         .goal = weft::format("<= {:.1f}", p99_max),
         .reached = attack.p99_ms <= p99_max,
         .note = weft::format("{} jobs, none lost", attack.jobs)},
        {.name = "memory_above",
         .value = above,
         .unit = "MiB",
         .control = control.memory_mib,
         .goal = weft::format("<= {:.0f}", memory_mib_max),
         .reached = above <= memory_mib_max,
         .note = "resident at most, above the control's"},
        // If the system allows too few connections, the control is not a valid comparison.
        {.name = "connections",
         .value = attack.open,
         .unit = "open",
         .control = control.open,
         .goal = weft::format("control >= {:.0f}", held_share_min * options_.connections),
         .reached = control.open >= held_share_min * options_.connections,
         .note = "on average: those that say nothing for long are ended and come again"},
        {.name = "generator",
         .value = attack.share,
         .unit = "cores",
         .control = control.share,
         .goal = weft::format("<= {:.2f}", options_.share + share_above_max),
         .reached = attack.share <= options_.share + share_above_max,
         .note = "what the attacks themselves took"}};
    for (const auto& tally : attack.tallies)
      rows.push_back(
          {.name = "attack/" + tally.name,
           .value = static_cast<double>(tally.opened),
           .unit = "opened",
           .goal = "> 0",
           .reached = tally.opened > 0,
           .note = weft::format("{} answers, {} refusals, {} ended, {} not opened", tally.answered,
                                tally.refused, tally.ended, tally.unopened)});
    return rows;
  }

 private:
  Result<Half> half(const char* name, bool attacks) {
    WEFT_ASSIGN(const auto server, CoordinatorProcess::start(scratch_.path() / name, {},
                                                             CoordinatorProcess::Bounds::usual));
    auto measured = [&]() -> Result<Half> {
      WEFT_ASSIGN(const auto crowd, Crowd::gather({.port = server->port(),
                                                   .workers = options_.workers,
                                                   .slots = 1,
                                                   .clients = options_.clients}));
      const std::string host = weft::format("127.0.0.1:{}", server->port());
      WEFT_ASSIGN(
          const auto generator,
          Generator::start(
              {.port = server->port(),
               .connections = options_.connections,
               .addresses = options_.addresses,
               .share = options_.share,
               .kinds = attacks ? coordinator::bench::attacks(host)
                                : std::vector<Attack>{coordinator::bench::idle_connection(host)}}));
      const Instant give_up = now() + gather_max;
      while (generator->open() < options_.connections / 2 && now() < give_up)
        WEFT_OK(crowd->idle(std::chrono::milliseconds(100)));
      std::fprintf(stderr, "%s: %zu connections are open; %.0f s of %.0f jobs a second\n", name,
                   generator->open(), options_.seconds, options_.offered);
      Half out;
      std::vector<double> leases;
      double open_sum = 0;
      int parts = 0;
      // The time is split into parts, because prepared signatures take memory and because progress
      // is printed.
      for (double left = options_.seconds; left > 0;) {
        const double part = std::min(left, 10.0);
        left -= part;
        crowd->prepare(static_cast<std::size_t>(options_.offered * part) + 8);
        WEFT_ASSIGN(const auto tally, crowd->run_open(std::chrono::duration_cast<Duration>(
                                                          std::chrono::duration<double>(part)),
                                                      options_.offered));
        leases.insert(leases.end(), tally.lease_seconds.begin(), tally.lease_seconds.end());
        out.jobs += tally.tasks_done;
        if (interrupted()) return fail(ErrorCode::cancelled, "Interrupted.");
        open_sum += static_cast<double>(generator->open());
        ++parts;
        std::fprintf(stderr, "%s: p99 %.2f ms, %zu connections, %.0f MiB\n", name,
                     1e3 * percentile(leases, 0.99), generator->open(),
                     server->resident_kib() / 1024);
      }
      out.p50_ms = 1e3 * percentile(leases, 0.5);
      out.p99_ms = 1e3 * percentile(leases, 0.99);
      out.memory_mib = server->resident_kib_peak() / 1024;
      out.open = parts == 0 ? 0 : open_sum / parts;
      out.tallies = generator->finish();
      out.share = generator->share_used();
      return out;
    }();
    if (!measured)
      return fail(measured.error().code, "{}: {}\n{}", name, measured.error().message,
                  server->last_words());
    return measured;
  }

  const BenchHostileOptions options_;
  ScratchFolder scratch_{"weft-hostile"};
};

void print_table(const std::vector<BenchHostileRow>& rows) {
  std::printf("%-28s %10s %-8s %10s  %-16s %s\n", "what", "value", "unit", "control", "goal",
              "reached");
  for (const auto& row : rows)
    std::printf("%-28s %10.2f %-8s %10s  %-16s %s%s%s\n", row.name.c_str(), row.value,
                row.unit.c_str(),
                row.control > 0 ? weft::format("{:.2f}", row.control).c_str() : "-",
                row.goal.empty() ? "-" : row.goal.c_str(),
                row.goal.empty() ? "-"
                : row.reached    ? "yes"
                                 : "no",
                row.note.empty() ? "" : "  ", row.note.c_str());
}

}  // namespace

int bench_hostile_command(const BenchHostileOptions& options) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  note_interruptions();
  const auto rows = unless_interrupted(Bench(options).run());
  const int code = report_rows("bench hostile", rows, options.json, print_table);
  if (code != 0) return code;
  return std::ranges::all_of(*rows, &BenchHostileRow::reached) ? 0 : 1;
}

}  // namespace weft::cli
