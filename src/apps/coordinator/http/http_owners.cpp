// /v1/owner: an owner's balances, devices and payments. All requests are signed by one of its
// devices. A device must agree to be added, by signing protocol::device_digest(COORDINATOR, OWNER,
// ROLE). Otherwise any client could add a worker's key and take its earnings.
#include "apps/coordinator/http/http.h"
#include "common/base/format.h"
#include "common/crypto/invitation.h"
#include "common/crypto/keys.h"
#include "common/crypto/sha256.h"
#include "common/json/json.h"
#include "common/json/quote.h"
#include "common/protocol/signing.h"
#include "decisions/jobs/grants.h"
#include "decisions/jobs/owner_requests.h"
#include "platform/net/address.h"
#include "platform/net/server.h"

namespace weft::coordinator {

namespace {

namespace api = protocol::api;
using In = const net::IncomingRequest&;
using Out = const net::Respond&;

jobs::Answer<jobs::OwnerView> shown(Out respond) {
  return [respond](const Result<jobs::OwnerView>& view) {
    respond(view ? net::json_reply(200, api::to_json(view_of(*view))) : net::problem(view.error()));
  };
}

// Returns the number that identifies a payment. A repeated request gets the number of the first
// request, because it must move credits only once; another body with an equal nonce gets a
// different number.
std::uint64_t number_of(const Signed& who, const std::string& body) {
  crypto::Sha256 digest;
  digest.update(who.nonce).update(as_bytes(body));
  const Hash hash = digest.finish();
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < sizeof number; ++i) number |= std::uint64_t{hash.bytes[i]} << (8 * i);
  return number;
}

// Reads { "to": KEY, "amount": micro-credits, "issue": true if the operator creates the credits }.
Result<jobs::Payment> read_payment(const Signed& who, const std::string& body) {
  WEFT_ASSIGN(const json::Value root, json::parse(body, {.bytes_max = 4096}));
  WEFT_ASSIGN(const json::Object object, root.object({"to", "amount", "issue"}));
  jobs::Payment out;
  out.by = who.client;
  WEFT_ASSIGN(const json::Value to, object.get("to"));
  WEFT_ASSIGN(const std::string key, to.string({.bytes_max = 64}));
  auto parsed = PublicKey::parse(key);
  if (!parsed) return to.error("is no owner's or device's key: {}", parsed.error().message);
  out.to = *parsed;
  WEFT_ASSIGN(const json::Value amount, object.get("amount"));
  WEFT_ASSIGN(out.amount, amount.integer({.min = 1, .max = std::int64_t{1} << 60}));
  if (const auto issue = object.find("issue")) {
    WEFT_ASSIGN(const bool made, issue->boolean());
    if (made) out.source = jobs::Payment::Source::mint;
  }
  out.number = number_of(who, body);
  return out;
}

// Reads the body { "invitation": CODE }.
Result<crypto::InvitationKind> read_invitation(const HttpParts& parts, const Signed& who,
                                               const std::string& body) {
  WEFT_ASSIGN(const json::Value root, json::parse(body, {.bytes_max = 4096}));
  WEFT_ASSIGN(const json::Object object, root.object({"invitation"}));
  WEFT_ASSIGN(const json::Value code, object.get("invitation"));
  WEFT_ASSIGN(const std::string text, code.string({.bytes_max = crypto::invitation_bytes_max}));
  WEFT_ASSIGN(const PublicKey coordinator, PublicKey::parse(parts.info.coordinator));
  WEFT_ASSIGN(const crypto::Invitation shown,
              crypto::read_invitation(text, coordinator, who.client, unix_now()));
  if (shown.kind != crypto::InvitationKind::client && shown.kind != crypto::InvitationKind::own)
    return fail(ErrorCode::permission_denied,
                "The invitation is for a worker and brings no credits; an invitation that `weft "
                "invite --client` prints does.");
  return shown.kind;
}

void take_grant(const HttpParts& parts, In request, const Signed& who, Out respond) {
  const auto kind = read_invitation(parts, who, request.body);
  if (!kind) return respond(net::problem(kind.error()));
  post_or_refuse(
      parts.loop, respond,
      [respond, wanted = jobs::GrantWanted{.client = who.client,
                                           .address = net::address_group(request.address),
                                           .is_own = *kind == crypto::InvitationKind::own}](
          jobs::Core& core, jobs::Moment now) { core.grants().give(wanted, now, shown(respond)); });
}

// Tells programs on this machine the place of the operator's own invitation. A program that can
// read this file belongs to the operator.
void show_grant(const HttpParts& parts, In request, Out respond) {
  respond(net::json_reply(
      200, weft::format(R"({{"grant":{},"invite_file":{}}})", parts.info.grant,
                        json::quote(net::is_loopback(request.address) ? parts.invite_file : ""))));
}

// Reads the body { "amount": micro-credits }.
Result<jobs::Settling> read_settling(const Signed& who, const std::string& body) {
  WEFT_ASSIGN(const json::Value root, json::parse(body, {.bytes_max = 4096}));
  WEFT_ASSIGN(const json::Object object, root.object({"amount"}));
  WEFT_ASSIGN(const json::Value amount, object.get("amount"));
  jobs::Settling out{.by = who.client, .amount = 0, .number = number_of(who, body)};
  WEFT_ASSIGN(out.amount, amount.integer({.min = 1, .max = std::int64_t{1} << 60}));
  return out;
}

void settle(const HttpParts& parts, In request, const Signed& who, Out respond) {
  const auto settling = read_settling(who, request.body);
  if (!settling) return respond(net::problem(settling.error()));
  post_or_refuse(parts.loop, respond,
                 [respond, settling = *settling](jobs::Core& core, jobs::Moment now) {
                   core.owners().settle(settling, now, shown(respond));
                 });
}

void pay(const HttpParts& parts, In request, const Signed& who, Out respond) {
  const auto payment = read_payment(who, request.body);
  if (!payment) return respond(net::problem(payment.error()));
  if (payment->source == jobs::Payment::Source::mint && who.client.text() != parts.info.coordinator)
    return respond(net::problem({ErrorCode::permission_denied,
                                 "Only the operator, with the coordinator's own wallet, issues "
                                 "credits."}));
  post_or_refuse(parts.loop, respond,
                 [respond, payment = *payment](jobs::Core& core, jobs::Moment now) {
                   core.owners().pay(payment, now, shown(respond));
                 });
}

// A request { "device": KEY, "role": "full" | "recovery", "name": TEXT, "consent": SIGNATURE }.
struct WantedDevice {
  store::Device device;
  OwnerId owner;
  Signature consent;
};
Result<WantedDevice> read_device(std::string_view body) {
  WEFT_ASSIGN(const json::Value root, json::parse(body, {.bytes_max = 4096}));
  WEFT_ASSIGN(const json::Object object,
              root.object({"owner", "device", "role", "name", "consent"}));
  const auto text = [&](std::string_view key) -> Result<std::string> {
    WEFT_ASSIGN(const json::Value value, object.get(key));
    return value.string({.bytes_max = 128});
  };
  WantedDevice out;
  WEFT_ASSIGN(const std::string owner, text("owner"));
  WEFT_ASSIGN(out.owner, OwnerId::parse(owner));
  WEFT_ASSIGN(const std::string key, text("device"));
  WEFT_ASSIGN(out.device.key, PublicKey::parse(key));
  WEFT_ASSIGN(const std::string role, text("role"));
  if (role != "full" && role != "recovery")
    return fail(ErrorCode::invalid_argument, "The role is \"full\" or \"recovery\", not \"{}\".",
                role);
  out.device.role = role == "full" ? store::DeviceRole::full : store::DeviceRole::recovery;
  WEFT_ASSIGN(out.device.name, text("name"));
  WEFT_ASSIGN(const std::string consent, text("consent"));
  WEFT_ASSIGN(out.consent, Signature::parse(consent));
  return out;
}

void add_device(const HttpParts& parts, In request, const Signed& who, Out respond) {
  const auto wanted = read_device(request.body);
  if (!wanted) return respond(net::problem(wanted.error()));
  const auto coordinator = PublicKey::parse(parts.info.coordinator);
  if (!coordinator ||
      !crypto::verify_now(wanted->device.key,
                          protocol::device_digest(*coordinator, PublicKey{{wanted->owner.bytes}},
                                                  to_string(wanted->device.role)),
                          wanted->consent))
    return respond(net::problem(
        {ErrorCode::unauthenticated,
         "The device has not agreed to belong to this owner, at this coordinator and in this role: "
         "run `weft device request OWNER` on the device, and add the code that it prints."}));
  post_or_refuse(parts.loop, respond,
                 [respond, by = who.client, wanted = *wanted](jobs::Core& core, jobs::Moment now) {
                   core.owners().add_device(by, wanted.owner, wanted.device, now, shown(respond));
                 });
}

void revoke_device(const HttpParts& parts, In request, const Signed& who, Out respond) {
  const auto key = PublicKey::parse(request.parameters.at(0));
  if (!key) return respond(net::problem(key.error()));
  post_or_refuse(parts.loop, respond,
                 [respond, by = who.client, key = *key](jobs::Core& core, jobs::Moment now) {
                   core.owners().revoke_device(by, key, now, shown(respond));
                 });
}

void show_owner(const HttpParts& parts, In request, Out respond) {
  const auto who = parts.signatures.signer(request);
  if (!who) return respond(parts.signatures.refusal(who.error()));
  post_or_refuse(parts.loop, respond, [respond, by = who->client](jobs::Core& core, jobs::Moment) {
    core.owners().show(by, shown(respond));
  });
}

// Shows one account of the signing device's owner: account=owner, granted, held, held-granted,
// stake or settled. The request does not name the owner, so that no device can read another owner's
// account.
void show_statement(const HttpParts& parts, In request, Out respond) {
  const auto kind = request.query.find("account");
  const std::string name = kind == request.query.end() ? "" : kind->second;
  const auto who = parts.signatures.signer(request);
  if (!who) return respond(parts.signatures.refusal(who.error()));
  post_or_refuse(parts.loop, respond,
                 [parts, request, respond, name, by = who->client](jobs::Core& core, jobs::Moment) {
                   core.owners().show(by, [=](const Result<jobs::OwnerView>& view) {
                     if (!view) return respond(net::problem(view.error()));
                     const auto account = ledger::Account::parse(name + ":" + view->owner.text());
                     if (!account || !ledger::has_owner(account->kind))
                       return respond(net::problem(
                           {ErrorCode::invalid_argument,
                            weft::format("account={} is not one of owner, granted, held, "
                                         "held-granted, stake and settled.",
                                         name)}));
                     show_account(parts, request, respond, *account, false);
                   });
                 });
}

}  // namespace

protocol::api::Owner view_of(const jobs::OwnerView& view) {
  api::Owner out{.owner = view.owner.text(),
                 .device = view.device.text(),
                 .free = view.balances.spendable.free,
                 .granted = view.balances.spendable.granted,
                 .held = view.balances.held.free,
                 .held_granted = view.balances.held.granted,
                 .staked = view.balances.staked,
                 .settled = view.balances.settled,
                 .devices = {}};
  for (const store::Device& device : view.devices)
    out.devices.push_back({.key = device.key.text(),
                           .name = device.name,
                           .role = std::string(to_string(device.role)),
                           .added = device.added,
                           .revoked = device.revoked});
  return out;
}

void add_owner_routes(const HttpParts& parts) {
  const auto kept = std::make_shared<const HttpParts>(parts);
  const auto add = [&](const char* method, const char* pattern, auto handle) {
    parts.server.route(
        {.method = method,
         .pattern = pattern,
         .handle = [kept, handle](In request, Out respond) { handle(*kept, request, respond); },
         .cost = 1});
  };
  add("GET", "/v1/owner", show_owner);
  add("GET", "/v1/owner/statement", show_statement);
  add("GET", "/v1/owner/grant", show_grant);
  add("POST", "/v1/owner/grant", once(take_grant));
  add("POST", "/v1/owner/payments", once(pay));
  add("POST", "/v1/owner/settlements", once(settle));
  add("POST", "/v1/owner/devices", once(add_device));
  add("DELETE", "/v1/owner/devices/{}", once(revoke_device));
}

}  // namespace weft::coordinator
