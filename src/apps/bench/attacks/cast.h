// The players: wallets of honest workers, attackers and clients, with the standings, stakes and
// credits of a simulated scene. They are written as rows into the data folder of a coordinator that
// has not started yet, as if an earlier run had left them.
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
  bool invited = false;      // Presents the operator's invitation.
  std::uint32_t number = 0;  // Number among the attackers.
  std::uint32_t vendor = 0;
  double rate = 1;
  double reputation = 0;  // Reputation at the start.
  MicroCredits stake = 0;
};
struct Cast {
  std::vector<Player> workers;
  std::vector<crypto::KeyPair> clients;
  std::vector<crypto::KeyPair> own_clients;  // Clients that belong to attackers.
};

// Makes the players; without a plan all are honest. `price` is the pay for one replica of a task,
// of which stakes are multiples. Fails if the system has no randomness.
[[nodiscard]] Result<Cast> cast_of(const trust::attacks::Scene& scene,
                                   const trust::attacks::Plan* plan, MicroCredits price);
// A new wallet of the attacker, without standing.
[[nodiscard]] Result<Player> next_wallet(const Player& before);
// Writes standings, stakes and credits into a data folder. They are durable on return.
[[nodiscard]] Result<> leave_standings(const std::filesystem::path& data, const Cast& cast,
                                       const trust::ReputationSettings& reputation);

}  // namespace weft::coordinator::bench
