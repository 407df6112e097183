// Clients' weights: their shares of the network beside others'. What the operator sets at run time is durable, and comes before what the
// coordinator was started with (--client-weight).
#include <bit>
#include <cmath>

#include "apps/coordinator/core_state.h"
#include "common/base/log.h"

namespace weft::coordinator {
namespace {

namespace api = protocol::api;

constexpr std::string_view prefix = "weight:";
constexpr std::size_t stored_bytes = 16;
constexpr UnixMillis ahead_max = 10 * 60 * 1000;  // Of the operator's clock to ours.

ByteVector pack(const ClientWeight& set) {
  ByteVector bytes;
  append_le(bytes, std::bit_cast<std::uint64_t>(set.weight));
  append_le(bytes, static_cast<std::uint64_t>(set.at));
  return bytes;
}

std::optional<ClientWeight> unpack(const PublicKey& client, ByteSpan bytes) {
  if (bytes.size() != stored_bytes) return {};
  const auto word = [&](std::size_t at) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < 8; ++i) value |= static_cast<std::uint64_t>(bytes[at + i]) << (8 * i);
    return value;
  };
  const ClientWeight set{.client = client, .weight = std::bit_cast<double>(word(0)), .at = static_cast<UnixMillis>(word(8))};
  return set.weight >= client_weight_min && set.weight <= client_weight_max ? std::optional(set) : std::nullopt;
}

}  // namespace

double Core::State::weight_of(const PublicKey& client) const {
  if (const auto set = weights.find(client); set != weights.end()) return set->second.weight;
  const auto given = settings.client_weights.find(client);
  return given == settings.client_weights.end() ? 1 : given->second;
}

Result<> Core::State::restore_weights(std::span<const store::Setting> rows) {
  for (const auto& row : rows) {
    if (!row.name.starts_with(prefix)) continue;
    const auto client = PublicKey::parse(std::string_view(row.name).substr(prefix.size()));
    const auto set = client ? unpack(*client, row.value) : std::nullopt;
    if (!set) return fail(ErrorCode::data_loss, "The stored setting {} is no client's weight.", row.name);
    weights.insert_or_assign(*client, *set);
  }
  return {};
}

api::Client Core::State::client_view(const PublicKey& client, const scheduler::ClientShare& share) const {
  const auto set = weights.find(client);
  return {.client = client.text(),
          .weight = weight_of(client),
          .set = set == weights.end() ? 0 : set->second.at,
          .jobs = share.jobs,
          .used_seconds = share.used_seconds,
          .lead_seconds = share.lead_seconds};
}

void Core::set_weight(const ClientWeight& wanted, Moment now, Answer<api::Client> answer) {
  State& state = *state_;
  const auto reply = [&](Result<api::Client> result) { state.effect([answer = std::move(answer), result = std::move(result)] { answer(result); }); };
  if (!(wanted.weight >= client_weight_min && wanted.weight <= client_weight_max)) {
    return reply(
        fail(ErrorCode::invalid_argument, "A client's weight is from {} to {}; {} is not.", client_weight_min, client_weight_max, wanted.weight));
  }
  if (wanted.at > now.unix + ahead_max)
    return reply(fail(ErrorCode::invalid_argument, "What is set comes from a clock that is ahead by more than ten minutes."));
  const auto before = state.weights.find(wanted.client);
  const bool again = before != state.weights.end() && before->second.at == wanted.at && before->second.weight == wanted.weight;
  if (before != state.weights.end() && wanted.at <= before->second.at && !again) {
    return reply(fail(ErrorCode::already_exists, "The weight of {} was set later than that already.", wanted.client.text()));
  }
  if (!again) {
    state.weights.insert_or_assign(wanted.client, wanted);
    state.batch.settings.push_back({.name = std::string(prefix) + wanted.client.text(), .value = pack(wanted)});
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
  for (const PublicKey& client : known) view.clients.push_back(state.client_view(client, state.scheduler.share(client, now.at)));
  state.effect([answer = std::move(answer), view = std::move(view)] { answer(view); });
}

}  // namespace weft::coordinator
