// The routes /v1/settlement/network and /v1/settlement/rows/{} tell the page how to settle on a
// chain, if the coordinator names a network. The rows are files of the operator:
// DATA/epochs/epoch-N.csv. /v1/settlement/stakes takes the stakes on the chain, which the
// operator's command reads.
#include <algorithm>

#include "apps/coordinator/http/operator.h"
#include "common/base/format.h"
#include "common/json/json.h"
#include "common/json/quote.h"
#include "decisions/jobs/stakes.h"

namespace weft::coordinator {
namespace {

constexpr std::size_t digits_max = 10;  // An epoch is a 32-bit number.

Error none_named() {
  return {ErrorCode::not_found,
          "This coordinator has no settlement network; its operator can name one with `weft serve "
          "--settlement FILE`."};
}

net::Reply rows_of(const HttpParts& parts, const net::IncomingRequest& request) {
  const std::string& epoch = request.parameters.front();
  if (epoch.empty() || epoch.size() > digits_max ||
      !std::ranges::all_of(epoch, [](char c) { return c >= '0' && c <= '9'; }))
    return net::problem({ErrorCode::invalid_argument,
                         weft::format("\"{}\" is not the number of an epoch.", epoch)});
  const std::filesystem::path path = parts.epochs / weft::format("epoch-{}.csv", epoch);
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error)
    return net::problem(
        {ErrorCode::not_found,
         weft::format("The operator has not published the rows of epoch {}.", epoch)});
  const auto changed = std::filesystem::last_write_time(path, error).time_since_epoch().count();
  return net::file_reply(request, {.path = path, .offset = 0, .size = size},
                         weft::format("\"{}-{}\"", size, changed), "text/csv; charset=utf-8");
}

constexpr std::uint64_t reading_bytes_max = std::uint64_t{2} << 20;

// Reads {"program", "mint", "slot", "stakes": [{"owner", "amount"}, ...]}.
Result<jobs::ChainReading> read_stakes(const SettlementNetwork& network, std::string_view body) {
  WEFT_ASSIGN(const json::Value root, json::parse(body, {.bytes_max = reading_bytes_max}));
  WEFT_ASSIGN(const json::Object object, root.object({"program", "mint", "slot", "stakes"}));
  const auto key = [](const json::Object& from, std::string_view name) -> Result<PublicKey> {
    WEFT_ASSIGN(const json::Value value, from.get(name));
    WEFT_ASSIGN(const std::string text, value.string());
    return PublicKey::parse(text);
  };
  WEFT_ASSIGN(const PublicKey program, key(object, "program"));
  WEFT_ASSIGN(const PublicKey mint, key(object, "mint"));
  if (program != network.program || mint != network.mint)
    return fail(ErrorCode::invalid_argument,
                "The stakes are of the mint {} at the program {}; this coordinator settles with "
                "the mint {} at the program {}.",
                mint.text(), program.text(), network.mint.text(), network.program.text());
  jobs::ChainReading out;
  WEFT_ASSIGN(const json::Value slot, object.get("slot"));
  WEFT_ASSIGN(out.slot, slot.unsigned_integer(std::numeric_limits<std::int64_t>::max()));
  WEFT_ASSIGN(const json::Value stakes, object.get("stakes"));
  WEFT_OK(stakes.for_each(
      {.count_max = jobs::ChainStakes::rows_max}, [&](const json::Value& row) -> Result<> {
        WEFT_ASSIGN(const json::Object one, row.object({"owner", "amount"}));
        WEFT_ASSIGN(const PublicKey owner, key(one, "owner"));
        WEFT_ASSIGN(const json::Value amount, one.get("amount"));
        jobs::ChainStake& stake = out.stakes.emplace_back();
        stake.owner = OwnerId::of_first(owner);
        WEFT_ASSIGN(stake.amount, amount.integer({.min = 0, .max = std::int64_t{1} << 60}));
        return {};
      }));
  return out;
}

void take_stakes(const HttpParts& parts, const net::IncomingRequest& request, const Signed& who,
                 const net::Respond& respond) {
  if (!is_operator(parts, who.client)) return respond(only_operator("tells what is staked"));
  if (!parts.settlement) return respond(net::problem(none_named()));
  auto reading = read_stakes(*parts.settlement, request.body);
  if (!reading) return respond(net::problem(reading.error()));
  post_or_refuse(
      parts.loop, respond,
      [respond, reading = std::move(*reading)](jobs::Core& core, jobs::Moment now) {
        core.stakes().read_chain(
            reading, now, [respond](const Result<jobs::ChainReadingTaken>& taken) {
              respond(taken ? net::json_reply(
                                  200, weft::format(R"({{"slot":{},"owners":{},"staked":{}}})",
                                                    taken->slot, taken->owners, taken->staked))
                            : net::problem(taken.error()));
            });
      });
}

}  // namespace

void add_settlement_routes(const HttpParts& parts) {
  parts.server.route(
      {.method = "GET",
       .pattern = "/v1/settlement/network",
       .handle = [settlement = parts.settlement](const net::IncomingRequest&,
                                                 const net::Respond& respond) {
         if (!settlement) return respond(net::problem(none_named()));
         respond(net::json_reply(
             200, weft::format(R"({{"rpc":{},"program":"{}","mint":"{}"}})",
                               json::quote(settlement->rpc), settlement->program.text(),
                               settlement->mint.text())));
       }});
  parts.server.route(
      {.method = "GET",
       .pattern = "/v1/settlement/rows/{}",
       .handle =
           [parts](const net::IncomingRequest& request, const net::Respond& respond) {
             if (!parts.settlement) return respond(net::problem(none_named()));
             post_or_refuse(parts.readers, respond,
                            [parts, request, respond] { respond(rows_of(parts, request)); });
           },
       .cost = 5});
  parts.server.route(
      {.method = "POST",
       .pattern = "/v1/settlement/stakes",
       .handle = [parts](
                     const net::IncomingRequest& request,
                     const net::Respond& respond) { once(take_stakes)(parts, request, respond); },
       .cost = 1,
       .body_bytes_max = reading_bytes_max,
       .is_signed = true});
}

}  // namespace weft::coordinator
