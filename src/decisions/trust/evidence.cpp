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

Evidence::Mismatches Evidence::mismatch(const PublicKey& worker, const Mismatch& found) {
  auto& rows = mismatches_[worker];
  forget_old(worker, rows, found.at);
  if (rows.contains(found.client) || rows.size() < clients_max) {
    Mismatch& row = rows[found.client];
    const MicroCredits before = row.penalty;
    row = found;
    row.penalty += before;
    changed_mismatches_.insert({worker, found.client});
  }
  Mismatches known{.clients = rows.size(), .penalty = 0};
  for (const auto& [client, row] : rows) known.penalty += row.penalty;
  return known;
}

void Evidence::forget_mismatches(const PublicKey& worker) {
  const auto rows = mismatches_.extract(worker);
  if (rows.empty()) return;
  for (const auto& [client, row] : rows.mapped()) changed_mismatches_.insert({worker, client});
}

void Evidence::forget_old(const PublicKey& worker, std::map<PublicKey, Mismatch>& rows,
                          UnixMillis now) {
  std::erase_if(rows, [&](const auto& each) {
    if (each.second.at + mismatch_lasts > now) return false;
    changed_mismatches_.insert({worker, each.first});
    return true;
  });
}

std::vector<PublicKey> Evidence::forget_old_mismatches(UnixMillis now) {
  std::vector<PublicKey> without;
  for (auto& [worker, rows] : mismatches_) {
    forget_old(worker, rows, now);
    if (rows.empty()) without.push_back(worker);
  }
  for (const PublicKey& worker : without) mismatches_.erase(worker);
  return without;
}

std::vector<Evidence::ChangedMismatch> Evidence::take_changed_mismatches() {
  std::vector<ChangedMismatch> changed;
  for (const auto& [worker, client] : std::exchange(changed_mismatches_, {})) {
    const auto rows = mismatches_.find(worker);
    const auto row = rows == mismatches_.end() ? std::map<PublicKey, Mismatch>::iterator{}
                                               : rows->second.find(client);
    const bool kept = rows != mismatches_.end() && row != rows->second.end();
    changed.push_back({.worker = worker,
                       .row = kept ? row->second : Mismatch{.client = client, .task = {}},
                       .forgotten = !kept});
  }
  return changed;
}

void Evidence::restore(const PublicKey& worker, const Mismatch& mismatch) {
  mismatches_[worker][mismatch.client] = mismatch;
}

}  // namespace weft::trust
