#include "apps/bench/bench_coordinator.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include <sys/resource.h>

#include "apps/bench/bench_established.h"
#include "apps/bench/bench_processes.h"
#include "apps/bench/bench_rows.h"
#include "apps/bench/coordinator/crowd.h"
#include "apps/bench/coordinator/deep_queue.h"
#include "apps/bench/coordinator/disk.h"
#include "apps/bench/coordinator/floor.h"
#include "apps/bench/coordinator/stopped_network.h"
#include "apps/cli/scratch_folder.h"
#include "common/base/format.h"

namespace weft::cli {

namespace {

using coordinator::bench::Crowd;

constexpr double floor_prepared_per_second = 30'000;

Duration as_duration(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

// Large: all rows of the benchmark; each row, or group of rows, is a method.
class Bench {
 public:
  explicit Bench(const BenchCoordinatorOptions& options) : options_(options) {}

  Result<std::vector<BenchCoordinatorRow>> run() {
    if (wants("floor") || wants("signed_floor") || wants("lifecycle") || wants("verified") ||
        wants("batched") || wants("sampled"))
      WEFT_OK(throughput());
    if (wants("assign_p99")) WEFT_OK(latency());
    if (wants("deep_queue")) WEFT_OK(deep_queue());
    if (wants("idle_workers")) WEFT_OK(idle());
    if (wants("recovery")) WEFT_OK(recovery());
    // This row runs only on request, because ten workers occupy this machine for minutes.
    if (!options_.only.empty() && wants("established")) WEFT_OK(established());
    return std::move(rows_);
  }

 private:
  // A load on the coordinator that is compared with the peers.
  struct Load {
    std::string name;
    std::string guarantee;
    Crowd::Options crowd;
    double goal_postgresql = 0;  // Ratio to PostgreSQL to reach; 0: no goal.
    double goal_redis = 0;
  };

  [[nodiscard]] bool wants(std::string_view row) const { return wants_row(options_.only, row); }
  [[nodiscard]] std::filesystem::path folder() const {
    return options_.folder.empty() ? scratch_.path() : options_.folder;
  }
  void say(std::string_view what) const { std::fprintf(stderr, "%s\n", std::string(what).c_str()); }

  [[nodiscard]] std::vector<Load> loads() const {
    const std::string durable =
        "SQLite WAL synchronous=FULL, submit and acceptance answered after the sync";
    std::vector<Load> all = {
        {.name = "lifecycle",
         .guarantee = durable +
                      "; signed submission, a signed receipt a result, Merkle root, escrow and pay",
         .crowd = {.workers = options_.workers,
                   .slots = 1,
                   .clients = options_.workers,
                   .tasks = 1,
                   .replicas = 1},
         .goal_postgresql = 3,
         .goal_redis = 1},
        {.name = "verified",
         .guarantee =
             durable + "; quorum of 2, Merkle roots, ledger entries, a signed receipt a result",
         .crowd = {.workers = options_.workers,
                   .slots = 1,
                   .clients = options_.workers,
                   .tasks = 1,
                   .replicas = 2},
         .goal_postgresql = 0,
         .goal_redis = 0},
        {.name = "batched",
         .guarantee = durable + "; quorum of 2, Merkle roots, ledger entries, a signed receipt for "
                                "up to 16 results, jobs of 64 tasks",
         .crowd =
             {.workers = options_.workers, .slots = 16, .clients = 32, .tasks = 64, .replicas = 2},
         .goal_postgresql = 2,
         .goal_redis = 0},
        {.name = "sampled",
         .guarantee = durable +
                      "; 64 workers without an invitation, parts of each result computed again by "
                      "the coordinator's verifier, jobs of 64 tasks in 64 slices",
         .crowd = {.workers = 64,
                   .slots = 4,
                   .clients = 16,
                   .tasks = 64,
                   .replicas = 1,
                   .strangers = true,
                   .slices = 64,
                   // The budget is high because the canary runs on the verifier's device, beside
                   // everything else on this machine.
                   .budget = 1000},
         .goal_postgresql = 0,
         .goal_redis = 0},
    };
    std::erase_if(all, [&](const Load& load) { return !wants(load.name); });
    return all;
  }

  // Every round has a new coordinator, so that each one begins with an empty store.
  Result<double> tasks_per_second(Crowd::Options crowd_options, std::uint32_t round) {
    if (interrupted()) return fail(ErrorCode::cancelled, "Interrupted.");
    const auto data = folder() / weft::format("weft-{}", next_folder_++);
    WEFT_ASSIGN(const auto server, CoordinatorProcess::start(data));
    crowd_options.port = server->port();
    auto measured = [&]() -> Result<double> {
      WEFT_ASSIGN(const auto crowd, Crowd::gather(crowd_options));
      crowd->prepare(static_cast<std::size_t>(prepared_ * 1.3) + 256);
      WEFT_ASSIGN(const auto warm, crowd->run_closed(std::chrono::milliseconds(500)));
      WEFT_ASSIGN(const auto tally, crowd->run_closed(as_duration(options_.seconds)));
      const double rate = static_cast<double>(tally.tasks_done) / tally.seconds;
      prepared_ = rate * (options_.seconds + 0.5) / crowd_options.tasks;
      return rate;
    }();
    if (!measured)
      return fail(measured.error().code, "Round {}: {}\n{}", round + 1, measured.error().message,
                  server->last_words());
    return measured;
  }

  // Measures the transport without a coordinator, in this process.
  Result<double> floor_per_second(coordinator::bench::Floor& floor, bool sign) {
    if (interrupted()) return fail(ErrorCode::cancelled, "Interrupted.");
    floor.check_signatures(sign);
    WEFT_ASSIGN(const auto crowd, Crowd::gather({.port = floor.port(),
                                                 .workers = options_.workers,
                                                 .slots = 1,
                                                 .clients = options_.workers,
                                                 .sign = sign}));
    crowd->prepare(static_cast<std::size_t>(options_.seconds * floor_prepared_per_second));
    WEFT_ASSIGN(const auto warm, crowd->run_closed(std::chrono::milliseconds(500)));
    WEFT_ASSIGN(const auto tally, crowd->run_closed(as_duration(options_.seconds)));
    return static_cast<double>(tally.tasks_done) / tally.seconds;
  }

  Result<> throughput() {
    std::map<std::string, std::vector<double>> ours;
    std::map<std::string, std::vector<double>> theirs;
    PeerProcess postgresql("postgresql", folder() / "postgresql");
    PeerProcess redis("redis", folder() / "redis");
    std::unique_ptr<coordinator::bench::Floor> floor;
    struct Bare {
      Load load;
      bool sign;
    };
    std::vector<Bare> bare = {
        {{.name = "floor",
          .guarantee = "the messages of a lifecycle through the same server and fdatasync for "
                       "groups of them; nothing is decided, parsed, "
                       "checked, signed or paid: no coordinator on it can be faster",
          .crowd = {}},
         false},
        {{.name = "signed_floor",
          .guarantee = "the same with the two signatures of a lifecycle, the submission's and the "
                       "receipt's, made and verified, and nothing else "
                       "done: no coordinator on it that wants them can be faster",
          .crowd = {}},
         true}};
    std::erase_if(bare, [&](const Bare& one) { return !wants(one.load.name); });
    for (std::uint32_t round = 0; round < options_.rounds; ++round) {
      for (PeerProcess* peer : {&postgresql, &redis}) {
        if (const auto rate = peer->measure(options_.workers, options_.seconds)) {
          theirs[peer->name()].push_back(*rate);
          say(weft::format("round {}: {} {:.0f}/s", round + 1, peer->name(), *rate));
        } else if (round == 0) {
          say(rate.error().message);
        }
      }
      for (const auto& [load, sign] : bare) {
        if (!floor) {
          WEFT_ASSIGN(floor, coordinator::bench::Floor::start(folder()));
        }
        WEFT_ASSIGN(const double rate, floor_per_second(*floor, sign));
        ours[load.name].push_back(rate);
        say(weft::format("round {}: {} {:.0f}/s", round + 1, load.name, rate));
      }
      for (const Load& load : loads()) {
        prepared_ = 0;
        WEFT_ASSIGN(const double rate, tasks_per_second(load.crowd, round));
        ours[load.name].push_back(rate);
        say(weft::format("round {}: {} {:.0f}/s", round + 1, load.name, rate));
      }
    }
    for (const auto& [load, sign] : bare) {
      add_against(load, ours[load.name], postgresql, theirs["postgresql"], 0);
      add_against(load, ours[load.name], redis, theirs["redis"], 0);
    }
    for (const Load& load : loads()) {
      lifecycle_rate_ = load.name == "lifecycle" ? spread(ours[load.name]).median : lifecycle_rate_;
      add_against(load, ours[load.name], postgresql, theirs["postgresql"], load.goal_postgresql);
      add_against(load, ours[load.name], redis, theirs["redis"], load.goal_redis);
    }
    return {};
  }

  void add_against(const Load& load, const std::vector<double>& ours, const PeerProcess& peer,
                   const std::vector<double>& theirs, double goal) {
    const Spread us = spread(ours);
    const Spread them = spread(theirs);
    BenchCoordinatorRow row{.name = load.name + "/" + peer.name(),
                            .value = us.median,
                            .unit = "task/s",
                            .peer = peer.name() == "redis" ? "Redis, appendfsync always"
                                                           : "PostgreSQL, FOR UPDATE SKIP LOCKED",
                            .peer_value = them.median,
                            .ratio = them.median > 0 ? us.median / them.median : 0,
                            .goal = goal > 0 ? weft::format(">= {}x", goal) : "",
                            .min = us.min,
                            .max = us.max,
                            .peer_min = them.min,
                            .peer_max = them.max,
                            .rounds = options_.rounds,
                            .guarantee = load.guarantee,
                            .note = theirs.empty() ? peer.trouble() : ""};
    row.reached = goal > 0 && row.ratio >= goal;
    rows_.push_back(std::move(row));
  }

  Result<> latency() {
    // Jobs are offered at half of the coordinator's lifecycle rate, which is measured here unless
    // it is known.
    if (lifecycle_rate_ <= 0 && options_.offered <= 0) {
      WEFT_ASSIGN(lifecycle_rate_, tasks_per_second({.workers = options_.workers,
                                                     .slots = 1,
                                                     .clients = options_.workers,
                                                     .tasks = 1,
                                                     .replicas = 1},
                                                    0));
    }
    const double offered = options_.offered > 0 ? options_.offered : lifecycle_rate_ / 2;
    std::vector<double> p99s, syncs, mediums;
    std::uint64_t late = 0;
    WEFT_ASSIGN(const auto server, CoordinatorProcess::start(folder() / "weft-latency"));
    auto done = [&]() -> Result<> {
      say(weft::format("{} idle workers connect", options_.idle_latency));
      WEFT_ASSIGN(const auto crowd, Crowd::gather({.port = server->port(),
                                                   .workers = options_.idle_latency,
                                                   .slots = 1,
                                                   .clients = 1024,
                                                   .tasks = 1,
                                                   .replicas = 1}));
      WEFT_ASSIGN(const auto warm, crowd->run_open(std::chrono::milliseconds(500), offered));
      for (std::uint32_t round = 0; round < options_.rounds; ++round) {
        crowd->prepare(static_cast<std::size_t>(offered * options_.seconds) + 64);
        coordinator::bench::DiskProbe probe(folder(), std::chrono::milliseconds(10));
        WEFT_ASSIGN(const auto tally, crowd->run_open(as_duration(options_.seconds), offered));
        WEFT_ASSIGN(const auto disk, probe.finish());
        p99s.push_back(1e3 * percentile(tally.lease_seconds, 0.99));
        mediums.push_back(1e3 * percentile(tally.lease_seconds, 0.5));
        syncs.push_back(1e3 * percentile(disk, 0.99));
        late += tally.late;
        say(weft::format("round {}: p99 {:.2f} ms, fdatasync p99 {:.2f} ms", round + 1, p99s.back(),
                         syncs.back()));
      }
      return {};
    }();
    if (!done) return fail(done.error().code, "{}\n{}", done.error().message, server->last_words());
    std::vector<double> above;
    for (std::size_t i = 0; i < p99s.size(); ++i) above.push_back(p99s[i] - syncs[i]);
    const Spread value = spread(above);
    const Spread disk = spread(syncs);
    rows_.push_back({.name = "assign_p99",
                     .value = value.median,
                     .unit = "ms above fdatasync",
                     .peer = "fdatasync p99, ms",
                     .peer_value = disk.median,
                     .ratio = 0,
                     .goal = "<= 2 ms",
                     .reached = value.median <= 2,
                     .min = value.min,
                     .max = value.max,
                     .peer_min = disk.min,
                     .peer_max = disk.max,
                     .rounds = options_.rounds,
                     .guarantee = "from the moment a job was to be submitted (open loop) until a "
                                  "worker has the lease, the job being durable",
                     .note = weft::format("{:.0f} jobs/s offered, {} idle workers; p99 {:.2f} ms, "
                                          "median {:.2f} ms; {} submissions were late",
                                          offered, options_.idle_latency, spread(p99s).median,
                                          spread(mediums).median, late)});
    return {};
  }

  Result<> deep_queue() {
    std::vector<double> rates, decisions;
    std::uint64_t inversions = 0;
    for (std::uint32_t round = 0; round < options_.rounds; ++round) {
      if (interrupted()) return fail(ErrorCode::cancelled, "Interrupted.");
      WEFT_ASSIGN(const auto result, coordinator::bench::run_deep_queue({.seed = round + 1}));
      rates.push_back(static_cast<double>(result.assignments) / result.seconds);
      decisions.push_back(1e3 * percentile(result.decide_seconds, 0.99));
      inversions += result.inversions;
      say(weft::format("round {}: {:.0f} assignments/s, {} inversions", round + 1, rates.back(),
                       result.inversions));
    }
    const Spread value = spread(rates);
    rows_.push_back(
        {.name = "deep_queue",
         .value = value.median,
         .unit = "assignment/s",
         .peer = "",
         .goal = ">= 5000/s, no inversion",
         .reached = value.median >= 5000 && inversions == 0,
         .min = value.min,
         .max = value.max,
         .rounds = options_.rounds,
         .guarantee =
             "100,000 tasks of unlike jobs, 10,000 unlike workers; the whole queue is looked at",
         .note = weft::format("{} priority inversions in {} leases; p99 of a decision {:.1f} ms",
                              inversions, options_.rounds * 100'000, spread(decisions).median)});
    return {};
  }

  Result<> idle() {
    WEFT_ASSIGN(const auto server, CoordinatorProcess::start(folder() / "weft-idle"));
    const double before = server->resident_kib();
    const Instant start = now();
    auto crowd = Crowd::gather(
        {.port = server->port(), .workers = options_.idle_memory, .slots = 1, .clients = 0});
    if (!crowd)
      return fail(crowd.error().code, "{}\n{}", crowd.error().message, server->last_words());
    const double took = seconds(now() - start);
    WEFT_OK((*crowd)->idle(std::chrono::seconds(12)));  // Long enough for a ping to each worker.
    const double each = (server->resident_kib() - before) / options_.idle_memory;
    rows_.push_back(
        {.name = "idle_workers",
         .value = each,
         .unit = "KiB resident each",
         .peer = "",
         .goal = "19,000 at <= 12 KiB",
         .reached = options_.idle_memory >= 19'000 && each <= 12,
         .min = each,
         .max = each,
         .rounds = 1,
         .guarantee = "authenticated, listed in the scheduler, pinged",
         .note = weft::format("{} in one process, joined in {:.1f} s; {:.0f} MiB without them",
                              options_.idle_memory, took, before / 1024)});
    return {};
  }

  // Measures the time from the start of the process until every worker of a waiting crowd has a
  // lease.
  Result<> recovery() {
    const auto left = folder() / "weft-stopped";
    const coordinator::bench::StoppedNetwork network{.jobs = options_.recovery_jobs,
                                                     .pending = options_.recovery_pending,
                                                     .running = options_.recovery_running,
                                                     .settled = options_.recovery_running};
    say(weft::format("{} jobs are left behind", network.jobs));
    WEFT_OK(coordinator::bench::leave_behind(left, network));
    std::vector<double> took, listening, resident;
    for (std::uint32_t round = 0; round < options_.rounds; ++round) {
      if (interrupted()) return fail(ErrorCode::cancelled, "Interrupted.");
      const auto data = folder() / "weft-recovery";
      std::error_code error;
      std::filesystem::remove_all(data, error);
      std::filesystem::copy(left, data, std::filesystem::copy_options::recursive, error);
      if (error)
        return fail(ErrorCode::unavailable, "The data folder cannot be copied: {}.",
                    error.message());
      const Instant start = now();
      WEFT_ASSIGN(const auto server, CoordinatorProcess::start(data));
      listening.push_back(seconds(now() - start));
      auto done = [&]() -> Result<> {
        WEFT_ASSIGN(const auto crowd, Crowd::gather({.port = server->port(),
                                                     .workers = options_.workers,
                                                     .slots = 1,
                                                     .clients = 1,
                                                     .tasks = 1,
                                                     .replicas = 2}));
        return crowd->until_all_have_work(std::chrono::seconds(60));
      }();
      if (!done)
        return fail(done.error().code, "{}\n{}", done.error().message, server->last_words());
      took.push_back(seconds(now() - start));
      resident.push_back(server->resident_kib_peak() / 1024);
      say(weft::format("round {}: {:.2f} s ({:.2f} s until it listens), {:.0f} MiB", round + 1,
                       took.back(), listening.back(), resident.back()));
    }
    const Spread time = spread(took);
    const Spread memory = spread(resident);
    const std::string guarantee = weft::format(
        "{} jobs of two replicas: {} untouched tasks, {} with one replica counted, {} settled and "
        "paid; what is read is what was durable",
        network.jobs, network.pending, network.running, network.settled);
    const bool whole = network.pending >= 1'000'000 && network.running >= 100'000;
    rows_.push_back({.name = "recovery",
                     .value = time.median,
                     .unit = "s until all work",
                     .peer = "",
                     .goal = "<= 2 s for 1,100,000",
                     .reached = whole && time.median <= 2,
                     .min = time.min,
                     .max = time.max,
                     .rounds = options_.rounds,
                     .guarantee = guarantee,
                     .note = weft::format("from the start of the process until {} workers have "
                                          "connected and hold a lease; it listens after {:.2f} s",
                                          options_.workers, spread(listening).median)});
    rows_.push_back({.name = "recovery/memory",
                     .value = memory.median,
                     .unit = "MiB resident, peak",
                     .peer = "",
                     .goal = "<= 1536 MiB",
                     .reached = whole && memory.median <= 1536,
                     .min = memory.min,
                     .max = memory.max,
                     .rounds = options_.rounds,
                     .guarantee = guarantee,
                     .note = ""});
    return {};
  }

  Result<> established() {
    const EstablishedOptions wanted{.folder = folder() / "weft-established"};
    WEFT_ASSIGN(const EstablishedTimes times, measure_established(wanted));
    const bool all = times.established == wanted.workers;
    rows_.push_back(
        {.name = "established",
         .value = times.all,
         .unit = "s until all are",
         .peer = "",
         .goal = "<= 180 s",
         .reached = all && times.all <= 180,
         .min = times.all,
         .max = times.all,
         .rounds = 1,
         .guarantee = weft::format("{} workers without an invitation, {} clients with the "
                                   "Mandelbrot example, one verifier; this machine runs all",
                                   wanted.workers, wanted.clients),
         .note = weft::format(
             "{} are, the first after {:.0f} s; {} jobs done; the least reputation is {:.2f}",
             times.established, times.first, times.jobs, times.least)});
    return {};
  }

  const BenchCoordinatorOptions options_;
  const ScratchFolder scratch_{"weft-bench"};
  std::vector<BenchCoordinatorRow> rows_;
  std::uint32_t next_folder_ = 0;
  double prepared_ = 0;
  double lifecycle_rate_ = 0;
};

void print_table(const std::vector<BenchCoordinatorRow>& rows) {
  std::printf("%-22s %10s %-20s %22s %12s %8s  %-24s %s\n", "what", "value", "unit", "range",
              "peer", "ratio", "goal", "reached");
  for (const auto& row : rows) {
    std::printf("%-22s %10.1f %-20s %22s %12s %8s  %-24s %s\n", row.name.c_str(), row.value,
                row.unit.c_str(), weft::format("{:.1f}-{:.1f}", row.min, row.max).c_str(),
                row.peer_value > 0 ? weft::format("{:.1f}", row.peer_value).c_str() : "-",
                row.ratio > 0 ? weft::format("{:.2f}", row.ratio).c_str() : "-",
                row.goal.empty() ? "-" : row.goal.c_str(),
                row.goal.empty() ? "-"
                : row.reached    ? "yes"
                                 : "no");
    if (!row.note.empty()) std::printf("    %s\n", row.note.c_str());
  }
}

// Raises this process's limit of file descriptors, which the coordinator inherits. Every connection
// needs a descriptor in each of the two processes.
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

int bench_coordinator_command(const BenchCoordinatorOptions& options) {
  raise_descriptor_limit();
  note_interruptions();
  const auto rows = unless_interrupted(Bench(options).run());
  return report_rows("bench coordinator", rows, options.json, print_table);
}

}  // namespace weft::cli
