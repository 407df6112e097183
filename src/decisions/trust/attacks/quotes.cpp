#include "decisions/trust/attacks/quotes.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "decisions/scheduler/quote.h"
#include "decisions/scheduler/scheduler.h"

namespace weft::trust::attacks {
namespace {

using scheduler::Scheduler;
using scheduler::Standing;

constexpr std::uint32_t honest_workers = 40;
constexpr std::uint64_t strangers_from = 1'000'000;

template <class Id>
Id id_of(std::uint64_t number) {
  Id id;
  std::memcpy(id.bytes.data(), &number, sizeof number);
  return id;
}

Instant at(double seconds) {
  return Instant(
      std::chrono::duration_cast<Duration>(std::chrono::duration<double>(1000 + seconds)));
}

class Fleet {
 public:
  Fleet() {
    for (std::uint32_t i = 0; i < honest_workers; ++i) {
      scheduler::Worker worker{.key = id_of<PublicKey>(i), .slots = 1, .capabilities = {}};
      worker.standing = i % 10 == 0 ? Standing::invited : Standing::established;
      worker.capabilities.f32_gflop_per_s = 1000;
      worker.capabilities.memory_bytes = 1 << 30;
      if (i < honest_workers / 4) worker.capabilities.features.emplace_back("some");
      if (i == 1) worker.capabilities.features.emplace_back("rare");
      (void)scheduler_.add_worker(worker, at(0));
      // Lets no worker take tasks, so that added work waits.
      scheduler_.set_leases_max(worker.key, 0);
    }
  }
  // Adds a job with `seconds` of work. It waits, because no worker takes tasks.
  void wait(std::uint64_t number, double seconds, double paid_share, std::string feature = {}) {
    scheduler::Job job{
        .id = id_of<JobId>(number), .requirements = {}, .deadline = {}, .estimate = {}};
    job.tasks = 10;
    job.workgroups = 100;
    job.client = id_of<PublicKey>(number);
    job.budget = 1'000'000'000'000;
    job.paid_share = paid_share;
    if (!feature.empty()) job.requirements.features.push_back(std::move(feature));
    job.estimate = scheduler::estimate({.workgroups = 100, .tasks = 10, .replicas = 1},
                                       seconds / 100, scheduler::Pricing{});
    (void)scheduler_.add_job(job, at(0));
  }
  void join(const scheduler::Worker& worker) { (void)scheduler_.add_worker(worker, at(0)); }
  [[nodiscard]] std::vector<double> quotes() {
    std::vector<double> all;
    for (const char* feature : {"", "some", "rare", "none"}) {
      scheduler::Job job{.id = {}, .requirements = {}, .deadline = {}, .estimate = {}};
      if (*feature != 0) job.requirements.features.emplace_back(feature);
      all.push_back(static_cast<double>(
          scheduler::quote({}, scheduler_.views().market(job, at(20)), 1).per_unit));
    }
    return all;
  }
  [[nodiscard]] double rate() {
    return scheduler_.views()
        .market({.id = {}, .requirements = {}, .deadline = {}, .estimate = {}}, at(0))
        .fleet_rate;
  }

 private:
  Scheduler scheduler_;
};

scheduler::Worker stranger(std::uint64_t number, std::mt19937_64& random) {
  scheduler::Worker worker{.key = id_of<PublicKey>(number), .capabilities = {}};
  worker.standing = Standing::newcomer;
  worker.slots = static_cast<std::uint32_t>(random() % 64);
  worker.capabilities.memory_bytes = std::uint64_t{1} << (20 + random() % 30);
  worker.capabilities.f32_gflop_per_s = random() % 2 == 0 ? 1e9 : 1e-6;
  for (const char* feature : {"some", "rare", "none"})
    if (random() % 2 == 0) worker.capabilities.features.emplace_back(feature);
  if (random() % 2 == 0) worker.price_min = static_cast<MicroCredits>(random() % 1'000'000'000);
  return worker;
}

}  // namespace

double quote_moved(const QuoteAttack& attack) {
  std::mt19937_64 random(attack.seed);
  double worst = 1;
  const double rate = Fleet().rate();
  for (const double load : {0.0, 6.0, 60.0, 600.0}) {
    Fleet alone;
    Fleet attacked;
    if (load > 0) {
      alone.wait(1, load * rate, 1);
      attacked.wait(1, load * rate, 1);
    }
    for (std::uint32_t i = 0; i < attack.workers; ++i)
      attacked.join(stranger(strangers_from + i, random));
    for (std::uint32_t i = 0; i < attack.clients; ++i) {
      const std::uint64_t number = strangers_from + 2 * std::uint64_t{i};
      attacked.wait(number, 1e6, 0);
      // A unit costs one credit, the least possible price.
      attacked.wait(number + 1, attack.credits_each, 1, i % 2 == 0 ? "" : "none");
    }
    const auto before = alone.quotes();
    const auto after = attacked.quotes();
    for (std::size_t i = 0; i < before.size(); ++i)
      worst = std::max({worst, after[i] / before[i], before[i] / after[i]});
  }
  return worst;
}

}  // namespace weft::trust::attacks
