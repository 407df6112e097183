#include "apps/bench/attacks/cast.h"

#include <cmath>

#include "common/base/clock.h"
#include "common/records/transaction.h"
#include "decisions/trust/reputation.h"
#include "platform/store/sqlite/sqlite_store.h"

namespace weft::coordinator::bench {
namespace {

constexpr std::uint32_t own_clients = 20;
constexpr MicroCredits client_credits = 1'000'000'000'000;

}  // namespace

Result<Cast> cast_of(const trust::attacks::Scene& scene, const trust::attacks::Plan* plan,
                     MicroCredits price) {
  Cast cast;
  trust::attacks::Random random(scene.seed);
  const auto stake = [&](double prices) {
    return static_cast<MicroCredits>(std::llround(prices * static_cast<double>(price)));
  };
  const auto add = [&](Player player) -> Result<> {
    player.rate = 0.8 + 0.4 * trust::attacks::chance(random);
    cast.workers.push_back(std::move(player));
    return {};
  };
  const std::uint32_t attackers =
      plan == nullptr     ? 0
      : plan->wallets > 0 ? plan->wallets
                          : static_cast<std::uint32_t>(std::lround(plan->share * scene.workers));
  const std::uint32_t among = plan == nullptr || plan->wallets > 0 ? 0 : attackers;
  const std::uint32_t honest = scene.invited + scene.workers - among + scene.newcomers;
  for (std::uint32_t i = 0; i < honest; ++i) {
    WEFT_ASSIGN(crypto::KeyPair key, crypto::KeyPair::generate());
    const bool invited = i < scene.invited;
    const bool established = !invited && i < scene.invited + scene.workers - among;
    WEFT_OK(add({.key = std::move(key),
                 .invited = invited,
                 .vendor = scene.vendors <= 1 ? 0 : i % scene.vendors,
                 .reputation = established ? scene.start : 0,
                 .stake = established ? stake(scene.stake) : 0}));
  }
  for (std::uint32_t i = 0; i < attackers; ++i) {
    WEFT_ASSIGN(crypto::KeyPair key, crypto::KeyPair::generate());
    WEFT_OK(add({.key = std::move(key),
                 .attacker = true,
                 .number = i,
                 .vendor = plan->own_vendor     ? 1000 + i
                           : scene.vendors <= 1 ? 0
                                                : 1 + i % (scene.vendors - 1),
                 .reputation = plan->start,
                 .stake = stake(plan->stake)}));
  }
  const auto wallets = [](std::vector<crypto::KeyPair>& to, std::uint32_t count) -> Result<> {
    for (std::uint32_t i = 0; i < count; ++i) {
      WEFT_ASSIGN(crypto::KeyPair key, crypto::KeyPair::generate());
      to.push_back(std::move(key));
    }
    return {};
  };
  WEFT_OK(wallets(cast.clients, scene.clients));
  if (plan != nullptr && plan->own_jobs > 0) WEFT_OK(wallets(cast.own_clients, own_clients));
  return cast;
}

Result<Player> next_wallet(const Player& before) {
  WEFT_ASSIGN(crypto::KeyPair key, crypto::KeyPair::generate());
  return Player{.key = std::move(key),
                .attacker = true,
                .number = before.number,
                .vendor = before.vendor,
                .rate = before.rate};
}

Result<> leave_standings(const std::filesystem::path& data, const Cast& cast,
                         const trust::ReputationSettings& reputation) {
  const trust::ReputationBook book(reputation);
  const UnixMillis now = unix_now();
  store::Batch batch;
  const auto move = [&](ledger::Transaction transaction) {
    batch.transactions.push_back({.transaction = std::move(transaction), .time = now});
  };
  for (const Player& worker : cast.workers) {
    const PublicKey& key = worker.key.public_key();
    if (worker.reputation > 0)
      batch.standings.push_back(
          {.worker = key, .verified = book.verified_at(worker.reputation), .updated = now});
    if (worker.stake <= 0) continue;
    const OwnerId owner = OwnerId::of_first(key);
    move(ledger::issue(owner, worker.stake, 1));
    move(ledger::deposit_stake(owner, worker.stake, 1));
  }
  for (const auto* clients : {&cast.clients, &cast.own_clients}) {
    for (const crypto::KeyPair& client : *clients)
      move(ledger::issue(OwnerId::of_first(client.public_key()), client_credits, 1));
  }
  std::error_code error;
  std::filesystem::create_directories(data, error);
  if (!error) std::filesystem::permissions(data, std::filesystem::perms::owner_all, error);
  if (error)
    return fail(ErrorCode::unavailable, "The folder {} cannot be made: {}.", data.string(),
                error.message());
  WEFT_ASSIGN(const auto store, store::sqlite::open(data / "weft.db"));
  return store->commit(batch);
}

}  // namespace weft::coordinator::bench
