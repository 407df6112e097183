#include "decisions/trust/suspects.h"

#include <algorithm>

namespace weft::trust {

bool Suspects::suspect(const PublicKey& worker, const PublicKey& client, UnixMillis now) {
  forget_old(now);
  if (is_open(worker)) return false;
  Client& its = clients_[client];
  if (has_room(its)) {
    begin(its, worker, limits_.suspect_tasks_max, now);
    return true;
  }
  // A worker waits only if another suspect of the client is under way, because only its end may
  // free room. Room that is used up by right tasks stays used up for a day.
  if (std::ranges::any_of(its.spent, &Spent::open) && its.waiting.size() < limits_.waiting_max &&
      !std::ranges::contains(its.waiting, worker))
    its.waiting.push_back(worker);
  return false;
}

std::vector<Suspects::Next> Suspects::computed(const PublicKey& worker, std::uint32_t tasks,
                                               bool some_wrong, UnixMillis now) {
  std::vector<Next> next;
  for (auto& [key, client] : clients_) {
    for (Spent& each : client.spent) {
      if (each.worker != worker || !each.open) continue;
      each.open = false;
      each.tasks = some_wrong ? 0 : std::min(tasks, limits_.suspect_tasks_max);
    }
    std::erase_if(client.spent, [](const Spent& each) { return !each.open && each.tasks == 0; });
    while (!client.waiting.empty() && has_room(client)) {
      const PublicKey waited = client.waiting.front();
      client.waiting.pop_front();
      if (is_open(waited)) continue;
      begin(client, waited, limits_.suspect_tasks_max, now);
      next.push_back({.worker = waited, .client = key});
    }
    if (std::ranges::none_of(client.spent, &Spent::open)) client.waiting.clear();
  }
  forget_old(now);
  return next;
}

void Suspects::convicted(const PublicKey& worker) {
  for (auto& [key, client] : clients_) {
    std::erase_if(client.spent, [&](const Spent& each) { return each.worker == worker; });
    std::erase(client.waiting, worker);
  }
}

bool Suspects::is_open(const PublicKey& worker) const {
  return std::ranges::any_of(clients_, [&](const auto& each) {
    return std::ranges::any_of(each.second.spent, [&](const Spent& spent) {
      return spent.open && spent.worker == worker;
    });
  });
}

void Suspects::forget_old(UnixMillis now) {
  std::erase_if(clients_, [&](auto& each) {
    std::erase_if(each.second.spent,
                  [&](const Spent& spent) { return !spent.open && spent.since + day <= now; });
    return each.second.spent.empty() && each.second.waiting.empty();
  });
}

bool Suspects::has_room(const Client& client) const {
  std::uint64_t spent = limits_.suspect_tasks_max;
  for (const Spent& each : client.spent) spent += each.tasks;
  return spent <= limits_.tasks_max;
}

void Suspects::begin(Client& client, const PublicKey& worker, std::uint32_t tasks, UnixMillis now) {
  client.spent.push_back({.worker = worker, .since = now, .tasks = tasks, .open = true});
}

}  // namespace weft::trust
