// Clients' weights: their shares of the network beside others'. What the operator sets at run time
// is durable, and comes before what the coordinator was started with (--client-weight).
#include "common/base/log.h"
#include "decisions/jobs/core_state.h"

namespace weft::jobs {
namespace {

namespace api = protocol::api;

constexpr UnixMillis ahead_max =
    10 * 60 * 1000;  // How far the operator's clock may be ahead of ours.

bool is_weight(double weight) { return weight >= client_weight_min && weight <= client_weight_max; }

}  // namespace

double Core::State::weight_of(const PublicKey& client) const {
  if (const auto set = weights.find(client); set != weights.end()) return set->second.weight;
  const auto given = settings.client_weights.find(client);
  return given == settings.client_weights.end() ? 1 : given->second;
}

Result<> Core::State::restore_weights(std::span<const store::ClientWeight> rows) {
  for (const auto& row : rows) {
    if (!is_weight(row.weight))
      return fail(ErrorCode::data_loss, "The stored weight of {} is {}, which is not a weight.",
                  row.client.text(), row.weight);
    weights.insert_or_assign(row.client, row);
  }
  return {};
}

api::Client Core::State::client_view(const PublicKey& client,
                                     const scheduler::ClientShare& share) const {
  const auto set = weights.find(client);
  return {.client = client.text(),
          .weight = weight_of(client),
          .set = set == weights.end() ? 0 : set->second.at,
          .jobs = share.jobs,
          .used_seconds = share.used_seconds,
          .lead_seconds = share.lead_seconds};
}

void Core::set_weight(const ClientWeight& given, Moment now, Answer<api::Client> answer) {
  State& state = *state_;
  ClientWeight wanted = given;
  wanted.client = PublicKey{{state.owner_of(given.client).bytes}};  // Shares are owners'.
  const auto reply = state.replier(std::move(answer));
  if (!is_weight(wanted.weight)) {
    return reply(fail(ErrorCode::invalid_argument, "A client's weight is from {} to {}; {} is not.",
                      client_weight_min, client_weight_max, wanted.weight));
  }
  if (wanted.at > now.unix + ahead_max)
    return reply(fail(ErrorCode::invalid_argument,
                      "What is set comes from a clock that is ahead by more than ten minutes."));
  const auto before = state.weights.find(wanted.client);
  const bool again = before != state.weights.end() && before->second.at == wanted.at &&
                     before->second.weight == wanted.weight;
  if (before != state.weights.end() && wanted.at <= before->second.at && !again) {
    return reply(fail(ErrorCode::already_exists,
                      "The weight of {} was set later than that already.", wanted.client.text()));
  }
  if (!again) {
    state.weights.insert_or_assign(wanted.client, wanted);
    state.batch.client_weights.push_back(wanted);
    state.scheduler.set_share(wanted.client, wanted.weight);
    log_info("The weight of {} is {} now.", wanted.client.text(), wanted.weight);
  }
  reply(state.client_view(wanted.client, state.scheduler.share(wanted.client, now.at)));
}

void Core::clients(Moment now, Answer<api::Clients> answer) {
  State& state = *state_;
  std::set<PublicKey> known;
  for (const PublicKey& client : state.scheduler.clients()) known.insert(client);
  for (const auto& [client, set] : state.weights) known.insert(client);
  for (const auto& [client, weight] : state.settings.client_weights) known.insert(client);
  api::Clients view;
  for (const PublicKey& client : known)
    view.clients.push_back(state.client_view(client, state.scheduler.share(client, now.at)));
  state.effect([answer = std::move(answer), view = std::move(view)] { answer(view); });
}

}  // namespace weft::jobs
