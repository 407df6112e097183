#include "apps/cli/commands/owners.h"

#include <cmath>
#include <cstdio>

#include "apps/cli/api_client.h"
#include "apps/cli/exit_code.h"
#include "apps/cli/owner_text.h"
#include "apps/cli/wallet_choice.h"
#include "common/base/format.h"
#include "common/json/quote.h"
#include "common/protocol/signing.h"

namespace weft::cli {
namespace {

namespace api = protocol::api;

struct OwnerLine {
  std::unique_ptr<ApiClient> client;
  crypto::KeyPair wallet;
};

Result<OwnerLine> owner_line(const OwnerOptions& options) {
  if (!options.data.empty() && !options.wallet.empty())
    return fail(ErrorCode::invalid_argument, "Give either --data or --wallet, not both.");
  WEFT_ASSIGN(crypto::KeyPair wallet, options.data.empty()
                                          ? wallet_there(options.wallet)
                                          : wallet_there(options.data / "coordinator.json"));
  WEFT_ASSIGN(auto client, ApiClient::create({.url = options.coordinator, .tls = options.tls}));
  return OwnerLine{.client = std::move(client), .wallet = std::move(wallet)};
}

Result<api::Owner> owner_in(const Result<net::Response>& answer) {
  if (!answer) return std::unexpected(answer.error());
  return api::from_json<api::Owner>(answer->body);
}

Result<api::Owner> ask_owner(OwnerLine& line) {
  return owner_in(line.client->requests().get("/v1/owner", line.wallet));
}

Result<api::Owner> post_owner(OwnerLine& line, const std::string& path, const std::string& body) {
  return owner_in(line.client->requests().post(path, body, line.wallet));
}

Result<> print_owner(const OwnerOptions& options, const Result<api::Owner>& owner) {
  if (!owner) return std::unexpected(owner.error());
  std::fputs(options.json ? (api::to_json(*owner) + "\n").c_str() : owner_text(*owner).c_str(),
             stdout);
  return {};
}

Result<> pay(const OwnerOptions& options) {
  if (options.issue == options.data.empty())
    return fail(
        ErrorCode::invalid_argument,
        "--issue and --data go together: the operator issues credits with the coordinator's "
        "own wallet.");
  if (!PublicKey::parse(options.key))
    return fail(ErrorCode::invalid_argument,
                "\"{}\" is not the key of an owner (`weft wallet show`).", options.key);
  if (!(options.credits >= 1e-6 && options.credits <= 1e12))
    return fail(ErrorCode::invalid_argument,
                "{} is not an amount of credits from 0.000001 to 10^12.", options.credits);
  WEFT_ASSIGN(OwnerLine line, owner_line(options));
  const std::string body =
      weft::format(R"({{"to":"{}","amount":{}{}}})", options.key,
                   std::llround(options.credits * 1e6), options.issue ? R"(,"issue":true)" : "");
  return print_owner(options, post_owner(line, "/v1/owner/payments", body));
}

std::string role_of(const OwnerOptions& options) { return options.recovery ? "recovery" : "full"; }

// Prints a request ROLE.KEY.SIGNATURE, with which a device asks to join an owner.
Result<> request_device(const OwnerOptions& options) {
  if (!PublicKey::parse(options.key))
    return fail(ErrorCode::invalid_argument,
                "\"{}\" is not the key of an owner (`weft wallet show`).", options.key);
  const auto wallet = wallet_or_new(options.wallet);
  if (!wallet) return std::unexpected(wallet.error());
  WEFT_ASSIGN(const OwnerLine line, owner_line(options));
  WEFT_ASSIGN(const PublicKey coordinator, line.client->coordinator());
  WEFT_ASSIGN(const PublicKey owner, PublicKey::parse(options.key));
  const Signature consent =
      line.wallet.sign_now(protocol::device_digest(coordinator, owner, role_of(options)));
  const std::string code =
      weft::format("{}.{}.{}", role_of(options), line.wallet.public_key().text(), consent.text());
  if (options.json) {
    std::printf("{\"device\":\"%s\",\"code\":\"%s\"}\n", line.wallet.public_key().text().c_str(),
                code.c_str());
  } else {
    std::printf(
        "%s\n\nOn a device of that owner: weft device add CODE --name NAME --coordinator %s\n",
        code.c_str(), options.coordinator.c_str());
  }
  return {};
}

Result<> add_device(const OwnerOptions& options) {
  const std::size_t first = options.code.find('.');
  const std::size_t second = first == std::string::npos ? first : options.code.find('.', first + 1);
  if (second == std::string::npos)
    return fail(ErrorCode::invalid_argument,
                "\"{}\" is no code: it is what `weft device request` prints on the new device.",
                options.code.substr(0, 200));
  const std::string role = options.code.substr(0, first);
  const std::string device = options.code.substr(first + 1, second - first - 1);
  const std::string consent = options.code.substr(second + 1);
  WEFT_ASSIGN(OwnerLine line, owner_line(options));
  WEFT_ASSIGN(const api::Owner before, ask_owner(line));
  const std::string body = weft::format(
      R"({{"owner":"{}","device":{},"role":{},"name":{},"consent":{}}})", before.owner,
      json::quote(device), json::quote(role), json::quote(options.name), json::quote(consent));
  return print_owner(options, post_owner(line, "/v1/owner/devices", body));
}

Result<> list_devices(const OwnerOptions& options) {
  WEFT_ASSIGN(OwnerLine line, owner_line(options));
  return print_owner(options, ask_owner(line));
}

Result<> revoke_device(const OwnerOptions& options) {
  if (!PublicKey::parse(options.key))
    return fail(ErrorCode::invalid_argument, "\"{}\" is no device's key (`weft device list`).",
                options.key);
  WEFT_ASSIGN(OwnerLine line, owner_line(options));
  return print_owner(options, owner_in(line.client->requests().remove(
                                  "/v1/owner/devices/" + options.key, line.wallet)));
}

Result<> redeem(const OwnerOptions& options) {
  WEFT_ASSIGN(const crypto::KeyPair wallet, wallet_or_new(options.wallet));
  WEFT_ASSIGN(const auto client,
              ApiClient::create({.url = options.coordinator, .tls = options.tls}));
  return print_owner(options, owner_in(client->requests().redeem(options.code, wallet)));
}

Result<> print_statement(const OwnerOptions& options) {
  WEFT_ASSIGN(OwnerLine line, owner_line(options));
  WEFT_ASSIGN(const api::Owner owner, ask_owner(line));
  constexpr std::uint32_t page = 1000;  // The most rows that the coordinator puts on a page.
  std::vector<api::LedgerAccount> histories;
  for (const StatementAccount& account : statement_accounts()) {
    api::LedgerAccount history;
    std::uint64_t from = 0;
    do {
      const std::string path =
          weft::format("/v1/owner/statement?account={}&from={}&count={}", account.kind, from, page);
      const auto answer = line.client->requests().get(path, line.wallet);
      if (!answer) return std::unexpected(answer.error());
      WEFT_ASSIGN(api::LedgerAccount more, api::from_json<api::LedgerAccount>(answer->body));
      if (from == 0) history.account = more.account;
      history.entries.insert(history.entries.end(), std::make_move_iterator(more.entries.begin()),
                             std::make_move_iterator(more.entries.end()));
      from = more.next;
    } while (from != 0);
    histories.push_back(std::move(history));
  }
  WEFT_ASSIGN(const Statement statement, make_statement(owner.owner, histories));
  std::fputs((options.csv    ? statement_csv(statement)
              : options.json ? statement_json(statement)
                             : statement_text(statement))
                 .c_str(),
             stdout);
  return {};
}

int done(const char* command, const Result<>& result) {
  return result ? 0 : report(command, result.error());
}

}  // namespace

int pay_command(const OwnerOptions& options) { return done("pay", pay(options)); }
int device_request_command(const OwnerOptions& options) {
  return done("device request", request_device(options));
}
int device_add_command(const OwnerOptions& options) {
  return done("device add", add_device(options));
}
int device_list_command(const OwnerOptions& options) {
  return done("device list", list_devices(options));
}
int device_revoke_command(const OwnerOptions& options) {
  return done("device revoke", revoke_device(options));
}
int redeem_command(const OwnerOptions& options) { return done("wallet redeem", redeem(options)); }
int statement_command(const OwnerOptions& options) {
  return done("wallet statement", print_statement(options));
}

}  // namespace weft::cli
