#include "apps/cli/commands/simulate_attacks.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>

#include "common/base/format.h"
#include "decisions/trust/attacks/arena.h"
#include "decisions/trust/attacks/measures.h"
#include "decisions/trust/attacks/search.h"

namespace weft::cli {
namespace {

namespace attacks = trust::attacks;

std::atomic<bool> stopped = false;
void stop_on_interrupt() {
  (void)std::signal(SIGINT, [](int) { stopped = true; });
}
void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  (void)std::fflush(stdout);
}

}  // namespace

int list_attacks_command(bool json) {
  if (json) print(R"({"strategies":[)");
  bool first = true;
  for (const attacks::Entry& each : attacks::strategies()) {
    if (json) {
      print(weft::format(R"({}{{"name":"{}","about":"{}"}})", first ? "" : ",", each.name,
                         each.about));
    } else {
      print(weft::format("{:18} {}\n", each.name, each.about));
    }
    first = false;
  }
  if (json) print("]}\n");
  return 0;
}

int play_attack_command(const SimulateAttacksOptions& options) {
  const attacks::Entry* strategy = attacks::find_strategy(options.strategy);
  if (strategy == nullptr && options.strategy != "honest") {
    std::fputs(weft::format("There is no strategy '{}': weft simulate trust --list names them.\n",
                            options.strategy)
                   .c_str(),
               stderr);
    return 2;
  }
  const attacks::Scene setup = attacks::standard_setup(options.seed, options.tasks);
  const attacks::Outcome outcome =
      strategy == nullptr ? attacks::play(setup, nullptr, {}) : attacks::play(setup, *strategy);
  if (options.json) {
    print(weft::format("{{\"strategy\":\"{}\",\"seed\":{},\"outcome\":{}}}\n", options.strategy,
                       options.seed, outcome.json()));
    return 0;
  }
  print(weft::format(
      "{}, seed {}: {} tasks accepted, {} undecided, in {:.0f} simulated seconds\n"
      "  wrong answers handed in      {}\n"
      "  accepted                     {} ({} wrong in all slices), {} of them corrected\n"
      "  wrong and not corrected      {:.1e} of all tasks\n"
      "  one accepted wrong task cost {}\n"
      "  attackers' established work  {:.0f} %\n"
      "  convicted                    {} attackers, {} honest workers\n"
      "  honest jobs                  {} done, {} ended\n"
      "  mean price of a task         {:.4f} credits\n"
      "  extra work                   {:.2f} % of the first 10,000 tasks, {:.2f} % of the rest\n",
      options.strategy, options.seed, outcome.tasks, outcome.undecided, outcome.seconds,
      outcome.cheats, outcome.wrong, outcome.wrong_all, outcome.corrected,
      outcome.uncorrected_share(),
      outcome.wrong == 0 ? std::string("-") : weft::format("{:.2f} prices", outcome.cost()),
      outcome.established_share * 100, outcome.convicted, outcome.honest_convicted, outcome.jobs,
      outcome.jobs_failed, outcome.price, outcome.extra_cold * 100, outcome.extra_warm * 100));
  return 0;
}

int attack_table_command(const SimulateAttacksOptions& options) {
  bool kept = true;
  bool found = false;
  std::string json =
      weft::format(R"({{"seed":{},"scale":{},"rows":[)", options.seed, options.scale);
  for (const attacks::Measure& measure : attacks::measures()) {
    if (!options.measure.empty() && measure.name != options.measure) continue;
    const auto began = std::chrono::steady_clock::now();
    const attacks::Row row = measure.row({.seed = options.seed, .scale = options.scale});
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    kept = kept && row.kept;
    json += weft::format(
        R"({}{{"name":"{}","measure":"{}","goal":"{}","measured":"{}","how":"{}","kept":{},"seconds":{:.1f}}})",
        found ? "," : "", measure.name, row.measure, row.goal, row.measured, row.how, row.kept,
        took.count());
    found = true;
    if (!options.json)
      print(weft::format("{:10} {}\n{:10} goal {}; measured {}{}\n{:10} ({}; {:.0f} s)\n",
                         measure.name, row.measure, "", row.goal, row.measured,
                         row.kept ? "" : "  BROKEN", "", row.how, took.count()));
  }
  if (!found) {
    std::string names;
    for (const attacks::Measure& measure : attacks::measures())
      names += (names.empty() ? "" : ", ") + std::string(measure.name);
    std::fputs(
        weft::format("There is no measure '{}': expected one of {}.\n", options.measure, names)
            .c_str(),
        stderr);
    return 2;
  }
  if (options.json) print(json + weft::format("],\"kept\":{}}}\n", kept));
  return kept ? 0 : 1;
}

int search_attacks_command(const SimulateAttacksOptions& options) {
  stop_on_interrupt();
  const auto began = std::chrono::steady_clock::now();
  auto shown = began;
  const auto progress = [&](std::uint32_t done, std::uint32_t of, const attacks::Candidate& worst) {
    const auto now = std::chrono::steady_clock::now();
    if (now - shown < std::chrono::seconds(5) && done < of) return;
    shown = now;
    std::fputs(weft::format("{} of {} evaluations, {:.0f} s; the worst so far ({:.2f}): {}\n", done,
                            of, std::chrono::duration<double>(now - began).count(), worst.harm,
                            attacks::describe(worst))
                   .c_str(),
               stderr);
  };
  const attacks::Found found = attacks::search({.seed = options.seed,
                                                .evaluations = options.evaluations,
                                                .tasks = options.tasks,
                                                .best_tasks = options.best_tasks,
                                                .threads = options.threads},
                                               progress, [] { return stopped.load(); });
  const double took =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  const bool kept =
      std::ranges::all_of(found.best, [](const auto& each) { return each.harm <= 1; });
  if (options.json) {
    std::string json = weft::format(
        R"({{"seed":{},"evaluations":{},"seconds":{:.1f},"interrupted":{},"kept":{},"best":[)",
        options.seed, found.evaluations, took, stopped.load(), kept);
    for (std::size_t i = 0; i < found.best.size(); ++i)
      json += weft::format(R"({}{{"harm":{:.3f},"plan":"{}","outcome":{}}})", i == 0 ? "" : ",",
                           found.best[i].harm, attacks::describe(found.best[i]),
                           found.best[i].outcome.json());
    print(json + "]}\n");
  } else {
    print(weft::format("seed {}: {} evaluations in {:.0f} s{}; harm 1 is where a promise breaks\n",
                       options.seed, found.evaluations, took,
                       stopped ? ", interrupted: the best were not played again" : ""));
    for (const attacks::Candidate& each : found.best)
      print(weft::format(
          "{:8.2f}  wrong {:.1e}, cost {}, convicted {}, honest {}, {:.0f} % of the established "
          "work: {}\n",
          each.harm, each.outcome.uncorrected_share(),
          each.outcome.wrong == 0 ? "-" : weft::format("{:.2f}", each.outcome.cost()),
          each.outcome.convicted, each.outcome.honest_convicted,
          each.outcome.established_share * 100, attacks::describe(each)));
  }
  return stopped ? 130 : kept ? 0 : 1;
}

}  // namespace weft::cli
