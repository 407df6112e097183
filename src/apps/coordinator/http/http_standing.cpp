// POST /v1/workers/KEY/pardon: the operator, with the coordinator's own wallet, ends the suspension
// of a worker that was convicted wrongly. A pardon does not undo a conviction that came after it
// was signed.

#include "apps/coordinator/http/operator.h"
#include "common/base/format.h"
#include "decisions/jobs/standings.h"

namespace weft::coordinator {

namespace {

using In = const net::IncomingRequest&;
using Out = const net::Respond&;

// Reads { "at": milliseconds since 1970 }.
Result<jobs::Pardon> read_pardon(std::string_view key, std::string_view body) {
  jobs::Pardon out;
  WEFT_ASSIGN(out.worker, PublicKey::parse(key));
  WEFT_ASSIGN(const json::Value root, json::parse(body, {.bytes_max = 4096}));
  WEFT_ASSIGN(const json::Object object, root.object({"at"}));
  WEFT_ASSIGN(out.at, signed_at(object));
  return out;
}

void pardon(const HttpParts& parts, In request, const Signed& who, Out respond) {
  const std::string& key = request.parameters.at(0);
  if (!is_operator(parts, who.client)) return respond(only_operator("pardons workers"));
  const auto wanted = read_pardon(key, request.body);
  if (!wanted) return respond(net::problem(wanted.error()));
  post_or_refuse(
      parts.loop, respond, [respond, wanted = *wanted](jobs::Core& core, jobs::Moment now) {
        core.standings().pardon(wanted, now, [respond](const Result<jobs::StakeView>& view) {
          if (!view) return respond(net::problem(view.error()));
          respond(net::json_reply(200, weft::format(R"({{"worker":"{}","suspended_until":{}}})",
                                                    view->wallet.text(), view->suspended_until)));
        });
      });
}

}  // namespace

void add_standing_routes(const HttpParts& parts) {
  const auto kept = std::make_shared<const HttpParts>(parts);
  parts.server.route(
      {.method = "POST",
       .pattern = "/v1/workers/{}/pardon",
       .handle = [kept](In request, Out respond) { once(pardon)(*kept, request, respond); },
       .cost = 1});
}

}  // namespace weft::coordinator
