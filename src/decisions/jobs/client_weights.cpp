#include "decisions/jobs/client_weights.h"

#include <set>
#include <utility>

#include "common/base/log.h"

namespace weft::jobs {

namespace {

namespace api = protocol::api;

constexpr UnixMillis ahead_max =
    10 * 60 * 1000;  // The most that the operator's clock may be ahead of ours.

bool is_weight(double weight) { return weight >= client_weight_min && weight <= client_weight_max; }

}  // namespace

double ClientWeights::of(const PublicKey& client) const {
  if (const auto set = weights_.find(client); set != weights_.end()) return set->second.weight;
  const auto given = tables_.settings.client_weights.find(client);
  return given == tables_.settings.client_weights.end() ? 1 : given->second;
}

Result<> ClientWeights::restore(std::span<const store::ClientWeight> rows) {
  for (const auto& row : rows) {
    if (!is_weight(row.weight))
      return fail(ErrorCode::data_loss, "The stored weight of {} is {}, which is not a weight.",
                  row.client.text(), row.weight);
    weights_.insert_or_assign(row.client, row);
  }
  return {};
}

api::Client ClientWeights::view(const PublicKey& client,
                                const scheduler::ClientShare& share) const {
  const auto set = weights_.find(client);
  return {.client = client.text(),
          .weight = of(client),
          .set = set == weights_.end() ? 0 : set->second.at,
          .jobs = share.jobs,
          .used_seconds = share.used_seconds,
          .lead_seconds = share.lead_seconds};
}

void ClientWeights::set(const ClientWeight& given, Moment now, Answer<api::Client> answer) {
  ClientWeight wanted = given;
  wanted.client =
      // The weight belongs to the client's owner.
      PublicKey{{tables_.accounts.owner_of(given.client).bytes}};
  const auto reply = tables_.outbox.replier(std::move(answer));
  if (!is_weight(wanted.weight)) {
    return reply(fail(ErrorCode::invalid_argument, "A client's weight is from {} to {}; {} is not.",
                      client_weight_min, client_weight_max, wanted.weight));
  }
  if (wanted.at > now.unix + ahead_max)
    return reply(fail(ErrorCode::invalid_argument,
                      "The request comes from a clock that is ahead by more than ten minutes; set "
                      "that machine's clock."));
  const auto before = weights_.find(wanted.client);
  const bool again = before != weights_.end() && before->second.at == wanted.at &&
                     before->second.weight == wanted.weight;
  if (before != weights_.end() && wanted.at <= before->second.at && !again) {
    return reply(fail(ErrorCode::already_exists,
                      "The weight of {} was already set at a later time than that of this request.",
                      wanted.client.text()));
  }
  if (!again) {
    weights_.insert_or_assign(wanted.client, wanted);
    tables_.outbox.batch().client_weights.push_back(wanted);
    tables_.scheduler.set_share(wanted.client, wanted.weight);
    log_info("The weight of {} is {} now.", wanted.client.text(), wanted.weight);
  }
  reply(view(wanted.client, tables_.scheduler.views().share(wanted.client, now.at)));
}

void ClientWeights::list(Moment now, Answer<api::Clients> answer) {
  std::set<PublicKey> known;
  for (const PublicKey& client : tables_.scheduler.views().clients()) known.insert(client);
  for (const auto& [client, set] : weights_) known.insert(client);
  for (const auto& [client, weight] : tables_.settings.client_weights) known.insert(client);
  api::Clients all;
  for (const PublicKey& client : known)
    all.clients.push_back(view(client, tables_.scheduler.views().share(client, now.at)));
  tables_.outbox.replier(std::move(answer))(std::move(all));
}

std::optional<ClientWeight> ClientWeights::row_of(const PublicKey& client) const {
  const auto set = weights_.find(client);
  return set == weights_.end() ? std::nullopt : std::optional(set->second);
}

}  // namespace weft::jobs
