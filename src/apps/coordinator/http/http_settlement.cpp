// /v1/settlement/network and /v1/settlement/rows/{}: what the page needs to settle on a chain, for
// a coordinator that names a network. The rows are the operator's files: DATA/epochs/epoch-N.csv.
#include <algorithm>

#include "apps/coordinator/http/http.h"
#include "common/base/format.h"
#include "common/json/quote.h"

namespace weft::coordinator {
namespace {

constexpr std::size_t digits_max = 10;  // An epoch has 32 bits.

Error none_named() {
  return {ErrorCode::not_found,
          "This coordinator names no settlement network; `weft serve --settlement FILE` does."};
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
}

}  // namespace weft::coordinator
