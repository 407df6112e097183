#include "decisions/jobs/owner_records.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/base/format.h"
#include "common/base/log.h"
#include "decisions/jobs/worker_view.h"

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

void OwnerRecords::show(const PublicKey& device, Moment now, Answer<OwnerData> answer) {
  const auto reply = tables_.outbox.replier(std::move(answer));
  if (auto may = tables_.accounts.may_spend(device); !may) return reply(pass(std::move(may)));
  OwnerData data{.owner = tables_.accounts.view(device), .keys = {}, .workers = {}, .weights = {}};
  for (const store::Device& each : data.owner.devices) {
    const auto keys = keys_.ring().list(each.key);
    data.keys.insert(data.keys.end(), keys.begin(), keys.end());
    if (const auto weight = weights_.row_of(each.key)) data.weights.push_back(*weight);
    const ConnectedWorker* const connected = tables_.workers.find(each.key);
    const auto counts = tables_.trust.votes().reputation(each.key);
    const auto* const presence = tables_.scheduler.views().presence(each.key);
    if (connected == nullptr && presence == nullptr && counts.accepted == 0 && counts.refused == 0)
      continue;
    protocol::api::Worker view{.key = each.key.text(),
                               .kind = {},
                               .device = {},
                               .description = {},
                               .accepted = counts.accepted,
                               .refused = counts.refused};
    if (connected != nullptr) view = worker_view(tables_, each.key, *connected);
    data.workers.push_back({.view = std::move(view),
                            .standing = stakes_.view(each.key, now),
                            .seen = last_seen(presence)});
  }
  reply(std::move(data));
}

Result<> OwnerRecords::nothing_under_way(const OwnerView& owner) const {
  const auto refuse = [](std::string_view what, std::string_view remedy) {
    return fail(ErrorCode::unavailable, "Nothing was deleted: {}; {}, and ask again.", what,
                remedy);
  };
  for (const store::Device& device : owner.devices) {
    const PublicKey& key = device.key;
    if (tables_.jobs.any_of_client(key))
      return refuse("a job of this owner runs", "wait for its end or cancel it");
    if (claims_.may_correct_for(key))
      return refuse("results of its ended jobs may still be computed again",
                    "wait until their workers' pay is free");
    if (keys_.ring().in_use(key))
      return refuse("an answer with one of its API keys is under way", "wait for its end");
    if (tables_.workers.contains(key))
      return refuse(weft::format("its worker {} is connected", key.text()), "stop it");
  }
  return {};
}

void OwnerRecords::forget(const PublicKey& device, Moment now, Answer<OwnerView> answer) {
  const auto reply = tables_.outbox.replier(std::move(answer));
  if (auto may = tables_.accounts.may_spend(device); !may) return reply(pass(std::move(may)));
  const OwnerView owner = tables_.accounts.view(device);
  if (auto idle = nothing_under_way(owner); !idle && tables_.settings.owners_forgotten_idle)
    return reply(pass(std::move(idle)));
  for (const store::Device& each : owner.devices) {
    tables_.outbox.batch().clients_forgotten.push_back(each.key);
    keys_.forget(each.key);
    tables_.scheduler.histories().forget(each.key);
    tables_.workers.forget_departed(each.key);
  }
  tables_.accounts.forget_names(owner.owner);
  presence_.store(now);
  log_info("The owner {} had its data deleted.", owner.owner.text());
  reply(tables_.accounts.view(device));
}

}  // namespace weft::jobs
