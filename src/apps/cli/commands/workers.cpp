#include "apps/cli/commands/workers.h"

#include <cstdio>

#include "apps/cli/api_client.h"
#include "apps/cli/exit_code.h"
#include "apps/cli/wallet_choice.h"
#include "common/base/clock.h"
#include "common/base/format.h"

namespace weft::cli {
namespace {

Result<> pardon(const WorkerOptions& options) {
  if (options.data.empty() == options.wallet.empty())
    return fail(ErrorCode::invalid_argument,
                "Only the operator pardons workers: give either --data or --wallet.");
  WEFT_ASSIGN(
      const crypto::KeyPair wallet,
      wallet_there(options.data.empty() ? options.wallet : options.data / "coordinator.json"));
  WEFT_ASSIGN(const PublicKey worker, PublicKey::parse(options.worker));
  WEFT_ASSIGN(const auto client,
              ApiClient::create({.url = options.coordinator, .tls = options.tls}));
  const std::string body = weft::format(R"({{"at":{}}})", unix_now());
  WEFT_ASSIGN(
      const net::Response answer,
      client->requests().post(weft::format("/v1/workers/{}/pardon", worker.text()), body, wallet));
  if (options.json) {
    std::printf("%s\n", answer.body.c_str());
  } else {
    std::printf("%s is suspended no more; its standing starts again.\n", worker.text().c_str());
  }
  return {};
}

Result<> list(const WorkerOptions& options) {
  WEFT_ASSIGN(const auto client,
              ApiClient::create({.url = options.coordinator, .tls = options.tls}));
  WEFT_ASSIGN(protocol::api::Workers all, client->workers());
  std::erase_if(all.workers, [](const protocol::api::Worker& each) { return !each.connected; });
  if (options.json) {
    std::printf("%s\n", protocol::api::to_json(all).c_str());
    return {};
  }
  std::printf("%-44s %-8s %5s %5s %9s %12s  %s\n", "worker", "kind", "held", "slots", "accepted",
              "price from", "device");
  for (const protocol::api::Worker& each : all.workers)
    std::printf("%-44s %-8s %5u %5u %9llu %12.6f  %s\n", each.key.c_str(), each.kind.c_str(),
                each.held, each.slots, static_cast<unsigned long long>(each.accepted),
                static_cast<double>(each.price_min) * 1e-6, each.description.c_str());
  return {};
}

}  // namespace

int worker_list_command(const WorkerOptions& options) {
  const Result<> done = list(options);
  return done ? 0 : report("worker list", done.error());
}

int worker_pardon_command(const WorkerOptions& options) {
  const Result<> done = pardon(options);
  return done ? 0 : report("worker pardon", done.error());
}

}  // namespace weft::cli
