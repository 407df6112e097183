// What the coordinator holds of an owner: shown to it, and deleted if it wants that.
#include <algorithm>
#include <chrono>

#include "common/base/format.h"
#include "common/base/log.h"
#include "decisions/jobs/core_state.h"

namespace weft::jobs {

namespace {

constexpr UnixMillis day = std::chrono::milliseconds(std::chrono::days(1)).count();

UnixMillis last_seen(const scheduler::Presence* presence) {
  UnixMillis seen = 0;
  if (presence == nullptr) return seen;
  for (const scheduler::Presence::Hour& hour : presence->seen())
    seen = std::max(seen, hour.day * day);
  return seen;
}

}  // namespace

void Core::owner_data(const PublicKey& device, Moment now, Answer<OwnerData> answer) {
  State& state = *state_;
  const auto reply = state.replier(std::move(answer));
  if (auto may = state.owners.may_act(device, ledger::Owners::Wants::spending); !may)
    return reply(pass(std::move(may)));
  OwnerData data{.owner = state.owner_view(device), .keys = {}, .workers = {}, .weights = {}};
  for (const store::Device& each : data.owner.devices) {
    const auto keys = state.answers.keys.list(each.key);
    data.keys.insert(data.keys.end(), keys.begin(), keys.end());
    if (const auto weight = state.weights.find(each.key); weight != state.weights.end())
      data.weights.push_back(weight->second);
    const auto connected = state.workers.find(each.key);
    const auto counts = state.trust.votes().reputation(each.key);
    const auto* const presence = state.scheduler.presence(each.key);
    if (connected == state.workers.end() && presence == nullptr && counts.accepted == 0 &&
        counts.refused == 0)
      continue;
    protocol::api::Worker view{.key = each.key.text(),
                               .kind = {},
                               .device = {},
                               .description = {},
                               .accepted = counts.accepted,
                               .refused = counts.refused};
    if (connected != state.workers.end()) view = state.view_of(each.key, connected->second);
    data.workers.push_back({.view = std::move(view),
                            .standing = state.stake_view(each.key, now),
                            .seen = last_seen(presence)});
  }
  reply(std::move(data));
}

Result<> Core::State::nothing_under_way(const OwnerView& owner) const {
  const auto refuse = [](std::string_view what, std::string_view remedy) {
    return fail(ErrorCode::unavailable, "Nothing was deleted: {}; {}, and ask again.", what,
                remedy);
  };
  for (const store::Device& device : owner.devices) {
    const PublicKey& key = device.key;
    if (std::ranges::any_of(jobs, [&](const auto& job) { return job.second.row.client == key; }))
      return refuse("a job of this owner runs", "wait for its end or cancel it");
    const bool is_rechecked = std::ranges::any_of(lost_pays, [&](const auto& lost) {
      return std::ranges::any_of(
          lost.second, [&](const LostPay& each) { return each.part.paid->client == key; });
    });
    const bool is_corrected = std::ranges::any_of(corrections, [&](const auto& open) {
      const bool is_right = open.second.computed && open.second.row.joined;
      return open.second.row.client == key && !is_right;
    });
    if (is_rechecked || is_corrected || rechecks.waits_for_client(key) || held_pays.holds_for(key))
      return refuse("results of its ended jobs may still be computed again",
                    "wait until their workers' pay is free");
    if (answers.keys.in_use(key))
      return refuse("an answer with one of its API keys is under way", "wait for its end");
    if (workers.contains(key))
      return refuse(weft::format("its worker {} is connected", key.text()), "stop it");
  }
  return {};
}

void Core::forget_owner(const PublicKey& device, Moment now, Answer<OwnerView> answer) {
  State& state = *state_;
  const auto reply = state.replier(std::move(answer));
  if (auto may = state.owners.may_act(device, ledger::Owners::Wants::spending); !may)
    return reply(pass(std::move(may)));
  const OwnerView owner = state.owner_view(device);
  if (auto idle = state.nothing_under_way(owner); !idle && state.settings.owners_forgotten_idle)
    return reply(pass(std::move(idle)));
  for (const store::Device& each : owner.devices) {
    state.batch.clients_forgotten.push_back(each.key);
    for (std::string& id : state.answers.keys.remove_of(each.key))
      state.batch.api_keys_removed.push_back(std::move(id));
    state.scheduler.forget_presence(each.key);
    std::erase_if(state.departed,
                  [key = each.key.text()](const auto& one) { return one.key == key; });
  }
  for (store::Device& row : state.owners.forget_names(owner.owner)) {
    state.parts.book.set_device(row);
    state.batch.devices.push_back(std::move(row));
  }
  state.store_presence(now);
  log_info("The owner {} had its data deleted.", owner.owner.text());
  reply(state.owner_view(device));
}

}  // namespace weft::jobs
