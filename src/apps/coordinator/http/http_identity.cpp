// GET /v1/identity/NONCE: the coordinator's key, and a signature that proves it for the host name
// in the client's request. Clients sign their requests for this key (docs/http.md, "Signing").
#include "apps/coordinator/http/http.h"
#include "common/protocol/digests.h"

namespace weft::coordinator {

void add_identity_route(const HttpParts& parts) {
  parts.server.route(
      {.method = "GET",
       .pattern = "/v1/identity/{}",
       .handle =
           [parts](const net::IncomingRequest& request, const net::Respond& respond) {
             const auto nonce = from_hex(request.parameters.at(0));
             if (!nonce || nonce->size() != protocol::request_nonce_bytes)
               return respond(net::problem(
                   {ErrorCode::invalid_argument, "The nonce of /v1/identity is 32 hex digits."}));
             const auto key = PublicKey::parse(parts.info.coordinator);
             const std::string host = protocol::canonical_host(request.header("host"));
             const Signature signature =
                 parts.sign(protocol::identity_digest(key.value(), *nonce, host));
             respond(net::json_reply(200, protocol::api::to_json(protocol::api::Identity{
                                              .coordinator = parts.info.coordinator,
                                              .signature = signature.text(),
                                              .rotations = parts.rotations})));
           },
       .cost = 1});
}

}  // namespace weft::coordinator
