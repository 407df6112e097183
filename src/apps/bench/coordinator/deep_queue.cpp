#include "apps/bench/coordinator/deep_queue.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <queue>
#include <random>

#include "decisions/scheduler/scheduler.h"

namespace weft::coordinator::bench {

bool InversionChecker::fits(const scheduler::Worker& worker,
                            const manifest::Requires& requirements) {
  const auto& has = worker.capabilities;
  for (const auto& feature : requirements.features) {
    if (!std::ranges::contains(has.features, feature)) return false;
  }
  for (const auto& [name, least] : requirements.limits) {
    const auto found = has.limits.find(name);
    if (found == has.limits.end() || found->second < least) return false;
  }
  return has.memory_bytes >= requirements.memory_bytes;
}

void InversionChecker::worker(const scheduler::Worker& worker) {
  const auto& info = workers_.emplace(worker.key, worker).first->second;
  Hand& hand = hands_[worker.key];
  hand = {.native = worker.kind == protocol::WorkerKind::native, .classes = {}, .info = &info};
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    if (fits(info, classes_[i].requirements)) hand.classes.push_back(i);
  }
}

void InversionChecker::job(const scheduler::Job& job, const scheduler::Rank& rank) {
  const auto known = std::ranges::find(classes_, job.requirements, &Class::requirements);
  const auto index = static_cast<std::size_t>(known - classes_.begin());
  if (known == classes_.end()) {
    classes_.push_back({.requirements = job.requirements, .canaries = {}, .open = {}});
    for (auto& [key, hand] : hands_) {
      if (fits(*hand.info, job.requirements)) hand.classes.push_back(index);
    }
  }
  jobs_[job.id] = {.of_class = index, .rank = rank, .left = job.tasks, .passed = false};
  classes_[index].canaries.insert(rank);
}

void InversionChecker::leased(const scheduler::Lease& lease) {
  Open& job = jobs_.at(lease.job);
  const Hand& hand = hands_.at(lease.worker);
  Class& own = classes_[job.of_class];
  for (std::size_t i = 0; i < lease.tasks.size(); ++i) {
    ++leases_;
    const bool inverted = std::ranges::any_of(hand.classes, [&](std::size_t each) {
      const Class& other = classes_[each];
      return (!other.open.empty() && *other.open.begin() < job.rank) ||
             (hand.native && !other.canaries.empty() && *other.canaries.begin() < job.rank);
    });
    inversions_ += inverted ? 1 : 0;
    own.canaries.erase(job.rank);
    if (--job.left == 0) own.open.erase(job.rank);
  }
}

void InversionChecker::canary_passed(const JobId& id) {
  Open& job = jobs_.at(id);
  if (std::exchange(job.passed, true) || job.left == 0) return;
  classes_[job.of_class].open.insert(job.rank);
}

namespace {

template <class Id>
Id id_of(std::uint64_t number) {
  Id id{};
  std::memcpy(id.bytes.data(), &number, sizeof number);
  return id;
}

constexpr std::array features = {"shader-f16", "subgroups", "timestamp-query"};

scheduler::Worker worker_of(std::uint64_t number, std::mt19937_64& random) {
  scheduler::Worker worker{.key = id_of<PublicKey>(number),
                           .kind = protocol::WorkerKind::native,
                           .slots = 1,
                           .capabilities = {},
                           .sharing = {}};
  if (random() % 4 == 0) worker.kind = protocol::WorkerKind::browser;
  worker.slots = 1 + random() % 2;
  for (const char* feature : features) {
    if (random() % 4 != 0) worker.capabilities.features.emplace_back(feature);
  }
  worker.capabilities.memory_bytes = std::uint64_t{1} << (30 + random() % 7);
  worker.capabilities.limits["maxStorageBufferBindingSize"] = std::uint64_t{1}
                                                              << (27 + random() % 5);
  worker.capabilities.f32_gflop_per_s = 100 * static_cast<double>(1 + random() % 500);
  return worker;
}

// A job whose requirements at least one worker meets: no class of jobs asks for a combination that
// no worker has.
scheduler::Job job_of(std::uint64_t number, std::uint32_t tasks, std::mt19937_64& random) {
  scheduler::Job job;
  job.id = id_of<JobId>(number);
  for (const char* feature : features) {
    if (random() % 4 == 0) job.requirements.features.emplace_back(feature);
  }
  if (random() % 3 == 0) job.requirements.memory_bytes = std::uint64_t{1} << (30 + random() % 5);
  if (random() % 4 == 0)
    job.requirements.limits["maxStorageBufferBindingSize"] = std::uint64_t{1}
                                                             << (27 + random() % 3);
  job.priority = static_cast<std::uint32_t>(random() % 101);
  job.stake = static_cast<MicroCredits>(random() % 5'000) * 1'000'000;
  job.tasks = tasks;
  job.workgroups = tasks * static_cast<std::uint32_t>(1 + random() % 1000);
  job.budget = MicroCredits{1} << 50;
  return job;
}

// Sums the time that is spent inside the scheduler.
class Timed {
 public:
  explicit Timed(double& total) : total_(total), start_(now()) {}
  ~Timed() { total_ += seconds(now() - start_); }

 private:
  double& total_;
  const Instant start_;
};

}  // namespace

Result<DeepQueueResult> run_deep_queue(const DeepQueue& queue) {
  std::mt19937_64 random(queue.seed);
  // Heartbeats are a day apart, because the cost of silent workers is measured elsewhere.
  scheduler::Settings settings;
  settings.beat = std::chrono::hours(24);
  scheduler::Scheduler scheduler(settings);
  InversionChecker checker;
  DeepQueueResult result;
  Instant time{std::chrono::hours(1)};

  for (std::uint64_t i = 0; i < queue.workers; ++i) {
    const scheduler::Worker worker = worker_of(i, random);
    checker.worker(worker);
    const Timed timed(result.seconds);
    WEFT_OK(scheduler.add_worker(worker, time));
  }
  std::uint64_t number = 0;
  for (std::uint32_t left = queue.tasks; left > 0;) {
    const std::uint32_t tasks = std::min(left, static_cast<std::uint32_t>(1 + random() % 19));
    left -= tasks;
    const scheduler::Job job = job_of(number, tasks, random);
    ++number;  // The scheduler numbers jobs in this order: the earlier job wins a tie.
    checker.job(job, scheduler::rank_of({.stake = job.stake,
                                         .priority = job.priority,
                                         .workgroups = job.workgroups,
                                         .replicas = 1},
                                        time, number));
    const Timed timed(result.seconds);
    WEFT_OK(scheduler.add_job(job, time));
  }

  struct Finish {
    Instant at;
    scheduler::TaskResult task;
    // Puts the earliest on top of the heap.
    bool operator<(const Finish& other) const { return at > other.at; }
  };
  std::priority_queue<Finish> finishing;
  constexpr auto step = std::chrono::milliseconds(5);
  while (result.assignments < queue.tasks || !finishing.empty()) {
    std::vector<scheduler::Decision> decisions;
    {
      double took = 0;
      {
        const Timed timed(took);
        decisions = scheduler.decide(time);
      }
      result.decide_seconds.push_back(took);
      result.seconds += took;
    }
    for (const auto& decision : decisions) {
      if (const auto* failed = std::get_if<scheduler::JobFailed>(&decision))
        return std::unexpected(failed->reason);
      const auto* lease = std::get_if<scheduler::Lease>(&decision);
      if (lease == nullptr) continue;
      checker.leased(*lease);
      for (const auto& task : lease->tasks) {
        ++result.assignments;
        finishing.push({.at = time + std::chrono::microseconds(20'000 + random() % 400'000),
                        .task = {.task = {.job = lease->job, .index = task.index},
                                 .worker = lease->worker,
                                 .attempt = task.attempt,
                                 .gpu_seconds = 0.05}});
      }
    }
    if (finishing.empty())
      return fail(ErrorCode::internal,
                  "The scheduler has assigned {} of {} tasks, and no worker runs a task.",
                  result.assignments, queue.tasks);
    time = std::max(time + step, finishing.top().at);
    while (!finishing.empty() && finishing.top().at <= time) {
      const scheduler::TaskResult done = finishing.top().task;
      finishing.pop();
      {
        const Timed timed(result.seconds);
        WEFT_OK(scheduler.result(done, time));
        scheduler.counted(done.task, done.worker);
        scheduler.settled(done.task);
      }
      checker.canary_passed(done.task.job);
    }
  }
  result.inversions = checker.inversions();
  return result;
}

}  // namespace weft::coordinator::bench
