#include "decisions/trust/evidence.h"

#include <algorithm>
#include <cmath>

namespace weft::trust {

double Evidence::admit(const PublicKey& worker, const PublicKey& client, double weight,
                       double verified, double share_max, UnixMillis half_life, UnixMillis now) {
  auto& clients = given_[worker];
  Given& given = clients[client];
  const auto passed = static_cast<double>(std::max<UnixMillis>(now - given.at, 0));
  given.weight *= std::exp2(-passed / static_cast<double>(half_life));
  given.at = now;
  const double room = std::max(client_floor, share_max * verified) - given.weight;
  const double counted = std::clamp(weight, 0.0, std::max(room, 0.0));
  given.weight += counted;
  changed_[worker].insert(client);
  if (clients.size() > clients_max) {
    const auto least =
        std::ranges::min_element(clients, {}, [](const auto& each) { return each.second.weight; });
    changed_[worker].insert(least->first);
    clients.erase(least);
  }
  return counted;
}

std::vector<Evidence::Share> Evidence::take_changed(const PublicKey& worker) {
  std::vector<Share> shares;
  const auto changed = changed_.extract(worker);
  if (changed.empty()) return shares;
  const auto& clients = given_[worker];
  for (const PublicKey& client : changed.mapped()) {
    const auto given = clients.find(client);
    shares.push_back(
        given == clients.end()
            ? Share{.client = client, .forgotten = true}
            : Share{.client = client, .weight = given->second.weight, .at = given->second.at});
  }
  return shares;
}

void Evidence::restore(const PublicKey& worker, const Share& share) {
  given_[worker][share.client] = {.weight = share.weight, .at = share.at};
}

Evidence::Mismatches Evidence::mismatch(const PublicKey& worker, const PublicKey& client,
                                        MicroCredits penalty) {
  Wrong& wrong = mismatches_[worker];
  if (wrong.clients.size() < clients_max) wrong.clients.insert(client);
  wrong.penalty += penalty;
  return {.clients = wrong.clients.size(), .penalty = wrong.penalty};
}

}  // namespace weft::trust
