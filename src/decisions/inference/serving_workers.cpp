#include "decisions/inference/serving_workers.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace weft::inference {

void ServingWorkers::join(ServingId session, const PublicKey& key,
                          const protocol::serving::Offer& offer, Instant now) {
  workers_[session] = {.key = key, .offer = offer, .heard = now};
}

std::set<ShardId> ServingWorkers::remove(ServingId session) {
  auto node = workers_.extract(session);
  for (auto& [other, worker] : workers_) worker.peers.erase(session);
  return node.empty() ? std::set<ShardId>{} : std::move(node.mapped().shards);
}

ServingWorker* ServingWorkers::find(ServingId session) {
  return const_cast<ServingWorker*>(std::as_const(*this).find(session));
}
const ServingWorker* ServingWorkers::find(ServingId session) const {
  const auto found = workers_.find(session);
  return found == workers_.end() ? nullptr : &found->second;
}

std::vector<ServingId> ServingWorkers::sessions_of(const PublicKey& key) const {
  std::vector<ServingId> out;
  for (const auto& [session, worker] : workers_) {
    if (worker.key == key) out.push_back(session);
  }
  return out;
}

bool ServingWorkers::is_trusted(ServingId session) const {
  const ServingWorker* const worker = find(session);
  return worker != nullptr && world_.is_trusted(worker->key);
}

double ServingWorkers::speed_of(const ServingWorker& worker) const {
  if (worker.gb_per_s > 0) return worker.gb_per_s;
  std::vector<double> shares;
  for (const auto& [session, other] : workers_) {
    if (other.gb_per_s > 0 && other.offer.gb_per_s > 0)
      shares.push_back(other.gb_per_s / other.offer.gb_per_s);
  }
  if (shares.empty()) return worker.offer.gb_per_s;
  const auto middle = shares.begin() + static_cast<std::ptrdiff_t>(shares.size() / 2);
  std::ranges::nth_element(shares, middle);
  return worker.offer.gb_per_s * *middle;
}

}  // namespace weft::inference
