#include "apps/bench/bench_attacks.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <glaze/glaze.hpp>
#include <sys/resource.h>

#include "apps/bench/attacks/cast.h"
#include "apps/bench/attacks/order.h"
#include "apps/bench/attacks/play.h"
#include "apps/bench/attacks/remains.h"
#include "apps/bench/bench_processes.h"
#include "apps/cli/exit_code.h"
#include "apps/cli/scratch_folder.h"
#include "common/base/clock.h"
#include "common/base/format.h"
#include "decisions/trust/attacks/arena.h"
#include "decisions/trust/attacks/strategy.h"

namespace weft::cli {

// The outcome of one strategy, either measured or simulated. The member names are part of the
// interface.
struct AttackOutcome {
  double tasks = 0;             // Accepted tasks.
  double undecided = 0;         // Tasks that were not accepted.
  double cheats = 0;            // Wrong results delivered.
  double wrong = 0;             // Tasks with an accepted wrong result.
  double stays = 0;             // Tasks that are wrong in the end.
  double cost = 0;              // Attackers' cost of an accepted wrong task, in prices of a task.
  double convicted = 0;         // Convicted wallets of attackers.
  double honest_convicted = 0;  // Convicted honest workers.
  double jobs_ended = 0;        // Jobs of honest clients that ended without a result.
  double price = 0;             // Price of a task, relative to the price without attackers.
};
struct BenchAttacksRow {
  std::string name;
  std::string about;
  double seconds = 0;
  std::string reason;  // Why the first failed job failed.
  AttackOutcome real;
  AttackOutcome simulated;  // Means of the simulator's runs.
  std::uint32_t place = 0;  // Rank by `stays`; 1 is the most harmful.
  std::uint32_t simulated_place = 0;
};
struct BenchAttacksOrder {
  std::uint32_t pairs = 0;
  std::uint32_t agree = 0;
  std::vector<std::string> broken;
};
struct BenchAttacksDocument {
  std::vector<BenchAttacksRow> rows;
  BenchAttacksOrder order;
  double seconds = 0;
  std::vector<std::string> broken;  // Promises that were not kept.
  bool kept = true;
};

namespace {

namespace attacks = trust::attacks;
namespace bench = coordinator::bench;

constexpr const char* usual[] = {
    "zeros",          "one-slice",   "one-value", "sleepers",   "targeted", "slander", "bait",
    "canary-killers", "price-pumps", "silence",   "exhaustion", "rich",     "sybils",  "mixture"};
constexpr double price_max = 1.25;  // The highest price ratio that docs/proof.md promises.
// The price of a replica until a run has measured it.
constexpr MicroCredits first_price = 100'000;

attacks::Scene scene_of(const BenchAttacksOptions& options) {
  attacks::Scene scene;
  scene.seed = options.seed;
  scene.tasks = options.tasks;
  scene.job_tasks = 25;
  scene.clients = 10;
  scene.workers = 40;
  scene.invited = 2;
  scene.vendors = 2;
  return scene;
}

class Bench {
 public:
  explicit Bench(const BenchAttacksOptions& options) : options_(options) {}

  Result<BenchAttacksDocument> run() {
    const Instant start = now();
    std::vector<const attacks::Entry*> all;
    for (const std::string& name : wanted()) {
      all.push_back(attacks::find_strategy(name));
      if (all.back() == nullptr)
        return fail(ErrorCode::invalid_argument,
                    "There is no strategy '{}': weft simulate trust --list names them.", name);
    }
    WEFT_ASSIGN(const BenchAttacksRow honest, play(nullptr));
    price_ = std::max<MicroCredits>(1, std::llround(honest.real.price));
    for (const attacks::Entry* strategy : all) {
      WEFT_ASSIGN(BenchAttacksRow row, play(strategy));
      row.real.price /= std::max(honest.real.price, 1.0);
      simulate(strategy, row);
      row.simulated.price /= honest.simulated.price > 0 ? honest.simulated.price : 1;
      document_.rows.push_back(std::move(row));
    }
    compare();
    document_.seconds = seconds(now() - start);
    return std::move(document_);
  }

 private:
  [[nodiscard]] std::vector<std::string> wanted() const {
    if (!options_.strategies.empty()) return options_.strategies;
    return {std::begin(usual), std::end(usual)};
  }

  Result<BenchAttacksRow> play(const attacks::Entry* strategy) {
    if (interrupted()) return fail(ErrorCode::cancelled, "Interrupted.");
    BenchAttacksRow row;
    row.name = strategy == nullptr ? "honest" : std::string(strategy->name);
    row.about = strategy == nullptr ? "" : std::string(strategy->about);
    const attacks::Scene scene = scene_of(options_);
    const attacks::Plan plan = strategy == nullptr ? attacks::Plan{} : strategy->plan();
    const auto data = scratch_.path() / row.name;
    WEFT_ASSIGN(bench::Cast cast, bench::cast_of(scene, strategy == nullptr ? nullptr : &plan,
                                                 price_ > 0 ? price_ : first_price));
    WEFT_OK(bench::leave_standings(data, cast, scene.referee.reputation));
    bench::Played played;
    {
      std::vector<std::string> more = {"--trusted-proxy", "127.0.0.1"};
      if (options_.agreement_alone) more.emplace_back("--allow-anyone");
      WEFT_ASSIGN(const auto server, CoordinatorProcess::start(data, more));
      auto result = bench::Play::run({.port = server->port(),
                                      .scene = scene,
                                      .strategy = strategy,
                                      .plan = plan,
                                      .task_seconds = options_.task_ms / 1000,
                                      .agreement_alone = options_.agreement_alone,
                                      .seconds_max = options_.seconds_max,
                                      .stop = [] { return interrupted(); }},
                                     std::move(cast));
      if (!result)
        return fail(result.error().code, "{}: {}\n{}", row.name, result.error().message,
                    server->last_words());
      played = std::move(*result);
    }
    WEFT_ASSIGN(const bench::Remains remains, bench::remains_of(data, played, scene));
    std::error_code ignored;
    std::filesystem::remove_all(data, ignored);
    row.seconds = played.seconds;
    row.reason = remains.reason;
    row.real = {.tasks = static_cast<double>(remains.tasks),
                .undecided = static_cast<double>(remains.undecided),
                .cheats = static_cast<double>(played.cheats),
                .wrong = static_cast<double>(played.wrong.size()),
                .stays = static_cast<double>(remains.wrong),
                .cost = cost_of(played, remains),
                .convicted = static_cast<double>(remains.attackers_suspended),
                .honest_convicted = static_cast<double>(remains.honest_suspended),
                .jobs_ended = static_cast<double>(remains.jobs_failed),
                .price = remains.price};
    if (strategy == nullptr) simulate(nullptr, row);
    std::fprintf(stderr,
                 "%-18s %5.1f s  %3.0f tasks, %3.0f wrong answers, %3.0f accepted, %3.0f stay\n",
                 row.name.c_str(), row.seconds, row.real.tasks, row.real.cheats, row.real.wrong,
                 row.real.stays);
    return row;
  }

  static double cost_of(const bench::Played& played, const bench::Remains& remains) {
    if (played.wrong.empty() || remains.price <= 0) return 0;
    const MicroCredits forfeited = std::max<MicroCredits>(played.paid - remains.attackers_have, 0);
    return static_cast<double>(forfeited + remains.attackers_slashed - played.gained) /
           remains.price / static_cast<double>(played.wrong.size());
  }

  // Simulates a strategy, unless clients ask for agreement alone, which the simulator does not
  // support.
  void simulate(const attacks::Entry* strategy, BenchAttacksRow& row) {
    if (options_.agreement_alone) return;
    bench::Measured measured{.name = row.name, .real = row.real.stays, .simulated = {}};
    attacks::Scene scene = scene_of(options_);
    double costs = 0;
    for (std::uint32_t i = 0; i < options_.simulations; ++i) {
      scene.seed = options_.seed + i;
      const attacks::Outcome one =
          strategy == nullptr ? attacks::play(scene, nullptr, {}) : attacks::play(scene, *strategy);
      const auto stays = static_cast<double>(one.wrong - one.corrected);
      measured.simulated.push_back(stays);
      AttackOutcome& sum = row.simulated;
      sum.tasks += static_cast<double>(one.tasks);
      sum.undecided += static_cast<double>(one.undecided);
      sum.cheats += static_cast<double>(one.cheats);
      sum.wrong += static_cast<double>(one.wrong);
      sum.stays += stays;
      costs += one.wrong > 0 ? 1 : 0;
      sum.cost += one.cost();
      sum.convicted += one.convicted;
      sum.honest_convicted += one.honest_convicted;
      sum.jobs_ended += one.jobs_failed;
      sum.price += one.price;
    }
    const double runs = std::max(options_.simulations, 1U);
    for (double* each :
         {&row.simulated.tasks, &row.simulated.undecided, &row.simulated.cheats,
          &row.simulated.wrong, &row.simulated.stays, &row.simulated.convicted,
          &row.simulated.honest_convicted, &row.simulated.jobs_ended, &row.simulated.price})
      *each /= runs;
    row.simulated.cost /= std::max(costs, 1.0);
    if (strategy != nullptr) measured_.push_back(std::move(measured));
  }

  void compare() {
    std::vector<double> real;
    std::vector<double> simulated;
    for (const BenchAttacksRow& row : document_.rows) {
      real.push_back(row.real.stays);
      simulated.push_back(row.simulated.stays);
    }
    const auto places = bench::places_of(real);
    const auto simulated_places = bench::places_of(simulated);
    for (std::size_t i = 0; i < document_.rows.size(); ++i) {
      document_.rows[i].place = places[i];
      document_.rows[i].simulated_place = simulated_places[i];
      judge(document_.rows[i]);
    }
    const bench::Order order = bench::order_of(measured_);
    document_.order = {.pairs = order.pairs, .agree = order.agree, .broken = order.broken};
    for (const std::string& pair : order.broken)
      document_.broken.push_back("the simulator's order: " + pair);
    document_.kept = options_.agreement_alone || document_.broken.empty();
  }

  void judge(const BenchAttacksRow& row) {
    const auto promise = [&](bool kept, const std::string& what) {
      if (!kept) document_.broken.push_back(row.name + ": " + what);
    };
    promise(row.real.undecided == 0,
            weft::format("{:.0f} tasks are not accepted", row.real.undecided));
    promise(row.real.honest_convicted == 0,
            weft::format("{:.0f} honest workers are convicted", row.real.honest_convicted));
    promise(row.real.jobs_ended == 0,
            weft::format("{:.0f} honest jobs are ended: {}", row.real.jobs_ended, row.reason));
    promise(row.real.price <= price_max, weft::format("the price is {:.2f} times", row.real.price));
  }

  const BenchAttacksOptions options_;
  const ScratchFolder scratch_{"weft-attacks"};
  MicroCredits price_ = 0;
  std::vector<bench::Measured> measured_;
  BenchAttacksDocument document_;
};

void print_table(const BenchAttacksDocument& document) {
  const auto both = [](double real, double simulated, int digits) {
    return digits == 0 ? weft::format("{:.0f} / {:.1f}", real, simulated)
                       : weft::format("{:.2f} / {:.2f}", real, simulated);
  };
  std::printf("Each value: real processes / mean of the simulator's runs.\n");
  std::printf("%-18s %13s %13s %13s %7s %16s %13s %7s %5s %12s\n", "strategy", "wrong answers",
              "accepted", "stay wrong", "place", "cost, prices", "convicted", "honest", "ended",
              "price ratio");
  for (const auto& row : document.rows) {
    const std::string cost =
        weft::format("{} / {}", row.real.wrong > 0 ? weft::format("{:.1f}", row.real.cost) : "-",
                     row.simulated.wrong > 0 ? weft::format("{:.1f}", row.simulated.cost) : "-");
    std::printf("%-18s %13s %13s %13s %7s %16s %13s %7s %5s %12s\n", row.name.c_str(),
                both(row.real.cheats, row.simulated.cheats, 0).c_str(),
                both(row.real.wrong, row.simulated.wrong, 0).c_str(),
                both(row.real.stays, row.simulated.stays, 0).c_str(),
                weft::format("{} / {}", row.place, row.simulated_place).c_str(), cost.c_str(),
                both(row.real.convicted, row.simulated.convicted, 0).c_str(),
                weft::format("{:.0f}", row.real.honest_convicted).c_str(),
                weft::format("{:.0f}", row.real.jobs_ended).c_str(),
                both(row.real.price, row.simulated.price, 2).c_str());
  }
  std::printf(
      "%zu strategies in %.0f s; %u of the %u pairs that the simulator keeps apart stand in the "
      "same order\n",
      document.rows.size(), document.seconds, document.order.agree, document.order.pairs);
  for (const std::string& broken : document.broken) std::printf("BROKEN %s\n", broken.c_str());
}

}  // namespace

int bench_attacks_command(const BenchAttacksOptions& options) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  note_interruptions();
  const auto document = unless_interrupted(Bench(options).run());
  if (!document) return report("bench attacks", document.error());
  if (options.json) {
    const auto text = glz::write_json(*document);
    if (!text)
      return report("bench attacks",
                    Error{ErrorCode::internal, "The results cannot be written as JSON."});
    std::printf("%s\n", text->c_str());
  } else {
    print_table(*document);
  }
  return document->kept ? 0 : 1;
}

}  // namespace weft::cli
