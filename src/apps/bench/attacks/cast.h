// The players: wallets of honest workers, attackers and clients, with the standings, stakes and
// credits that a simulated scene gives them. They are written as rows into the data folder of a
// coordinator that has not started yet, as an earlier run would have left them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "common/base/result.h"
#include "common/crypto/keys.h"
#include "decisions/trust/attacks/setup.h"

namespace weft::coordinator::bench {

struct Player {
  crypto::KeyPair key;
  bool attacker = false;
  bool invited = false;      // Shows the operator's invitation.
  std::uint32_t number = 0;  // An attacker's.
  std::uint32_t vendor = 0;
  double rate = 1;
  double reputation = 0;  // That it starts with.
  MicroCredits stake = 0;
};
struct Cast {
  std::vector<Player> workers;
  std::vector<crypto::KeyPair> clients;
  std::vector<crypto::KeyPair> own_clients;  // The attackers'.
};

// Without a strategy all are honest. `price`: what one run of a task is paid, of which stakes are
// multiples. Fails where the system gives no randomness.
[[nodiscard]] Result<Cast> cast_of(const trust::attacks::Scene& scene,
                                   const trust::attacks::Plan* plan, MicroCredits price);
// Another wallet of the attacker, without standing.
[[nodiscard]] Result<Player> next_wallet(const Player& before);
// Durable on return.
[[nodiscard]] Result<> leave_standings(const std::filesystem::path& data, const Cast& cast,
                                       const trust::ReputationSettings& reputation);

}  // namespace weft::coordinator::bench
