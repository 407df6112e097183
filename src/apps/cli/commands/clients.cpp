#include "apps/cli/commands/clients.h"

#include <cstdio>

#include "apps/cli/api_client.h"
#include "apps/cli/exit_code.h"
#include "apps/cli/wallet_choice.h"
#include "common/base/clock.h"
#include "common/base/format.h"

namespace weft::cli {
namespace {

namespace api = protocol::api;

void print(const api::Client& client) {
  std::printf("%-44s %8g  %-8s %6u %16.1f %12.1f\n", client.client.c_str(), client.weight,
              client.set > 0 ? "set" : "", client.jobs, client.used_seconds, client.lead_seconds);
}
void print_heads() {
  std::printf("%-44s %8s  %-8s %6s %16s %12s\n", "client", "weight", "", "jobs", "used lately, s",
              "ahead by, s");
}

Result<crypto::KeyPair> operators(const ClientOptions& options, std::string_view act) {
  if (options.data.empty() == options.wallet.empty())
    return fail(ErrorCode::invalid_argument,
                "Only the operator {}: give either --data or --wallet.", act);
  return wallet_there(options.data.empty() ? options.wallet : options.data / "coordinator.json");
}

Result<> list(const ClientOptions& options) {
  WEFT_ASSIGN(const crypto::KeyPair wallet, operators(options, "sees who has jobs"));
  WEFT_ASSIGN(const auto client,
              ApiClient::create({.url = options.coordinator, .tls = options.tls}));
  WEFT_OK(client->read_as(wallet));
  WEFT_ASSIGN(const api::Clients view, client->clients());
  if (options.json) {
    std::printf("%s\n", api::to_json(view).c_str());
    return {};
  }
  print_heads();
  for (const api::Client& each : view.clients) print(each);
  return {};
}

Result<> set(const ClientOptions& options) {
  WEFT_ASSIGN(const crypto::KeyPair wallet, operators(options, "sets weights"));
  WEFT_ASSIGN(const PublicKey who, PublicKey::parse(options.client));
  WEFT_ASSIGN(const auto client,
              ApiClient::create({.url = options.coordinator, .tls = options.tls}));
  const std::string body = weft::format(R"({{"weight":{},"at":{}}})", options.weight, unix_now());
  WEFT_ASSIGN(const net::Response answer,
              client->requests().post("/v1/clients/" + who.text(), body, wallet));
  if (options.json) {
    std::printf("%s\n", answer.body.c_str());
    return {};
  }
  WEFT_ASSIGN(const auto view, api::from_json<api::Client>(answer.body));
  print_heads();
  print(view);
  return {};
}

int finish(const char* command, const Result<>& result) {
  return result ? 0 : report(command, result.error());
}

}  // namespace

int client_list_command(const ClientOptions& options) {
  return finish("client list", list(options));
}
int client_weight_command(const ClientOptions& options) {
  return finish("client weight", set(options));
}

}  // namespace weft::cli
