#include "apps/bench/attacks/remains.h"

#include <algorithm>
#include <unordered_map>

#include "apps/bench/attacks/answers.h"
#include "common/records/account.h"
#include "platform/store/blobs.h"
#include "platform/store/sqlite/sqlite_store.h"

namespace weft::coordinator::bench {
namespace {

Result<> look_at_jobs(store::Store& store, const store::Blobs& blobs, const Played& played,
                      const trust::attacks::Scene& scene, Remains& remains) {
  double priced = 0;
  for (const PlayedJob& each : played.jobs) {
    if (each.own) continue;
    WEFT_ASSIGN(const store::Job job, store.job(each.id));
    remains.tasks += job.accepted;
    remains.undecided += job.tasks - job.accepted;
    if (job.price > 0) {
      priced += 1;
      remains.price += static_cast<double>(job.price) / job.tasks / scene.replicas;
    }
    if (!store::has_results(job.state)) {
      remains.jobs_failed += store::is_terminal(job.state) ? 1 : 0;
      if (remains.reason.empty()) remains.reason = job.reason;
      continue;
    }
    ++remains.jobs_done;
    WEFT_ASSIGN(const ByteVector output, blobs.read(job.outputs.at(0).hash));
    const std::size_t bytes = output.size() / job.tasks;
    for (std::uint32_t task = 0; task < job.tasks; ++task) {
      const ByteVector right = right_answer({.task = {.job = each.id, .index = task},
                                             .slices = scene.slices,
                                             .first = task * scene.slices,
                                             .count = scene.slices});
      remains.wrong +=
          std::ranges::equal(ByteSpan(output).subspan(task * bytes, bytes), right) ? 0 : 1;
    }
  }
  if (priced > 0) remains.price /= priced;
  return {};
}

}  // namespace

Result<Remains> remains_of(const std::filesystem::path& data, const Played& played,
                           const trust::attacks::Scene& scene) {
  WEFT_ASSIGN(const auto store, store::sqlite::open(data / "weft.db"));
  WEFT_ASSIGN(const auto blobs, store::Blobs::open(data / "blobs", {}));
  WEFT_OK(store->audit());
  WEFT_ASSIGN(const store::Loaded loaded, store->load());
  Remains remains;
  WEFT_OK(look_at_jobs(*store, *blobs, played, scene, remains));
  std::unordered_map<PublicKey, const Player*> known;
  for (const Player& worker : played.workers) {
    known[worker.key.public_key()] = &worker;
    (worker.attacker ? remains.attackers_slashed : remains.honest_slashed) += worker.stake;
  }
  const auto find = [&](const PublicKey& key) -> const Player* {
    const auto found = known.find(key);
    return found == known.end() ? nullptr : found->second;
  };
  for (const store::Standing& each : loaded.standings) {
    const Player* worker = find(each.worker);
    if (worker == nullptr || each.suspended_until == 0) continue;
    ++(worker->attacker ? remains.attackers_suspended : remains.honest_suspended);
  }
  for (const ledger::Entry& each : loaded.balances) {
    using Kind = ledger::Account::Kind;
    const Kind kind = each.account.kind;
    const Player* worker = find(PublicKey{{each.account.id}});
    if (worker == nullptr) continue;
    if (kind == Kind::stake)
      (worker->attacker ? remains.attackers_slashed : remains.honest_slashed) -= each.amount;
    if (worker->attacker && (kind == Kind::owner || kind == Kind::granted || kind == Kind::held ||
                             kind == Kind::held_granted))
      remains.attackers_have += each.amount;
  }
  return remains;
}

}  // namespace weft::coordinator::bench
