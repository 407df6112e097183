// `weft client`: lists the clients of a coordinator and sets each client's share of the network.
#pragma once

#include <filesystem>
#include <string>

#include "platform/net/client.h"

namespace weft::cli {

struct ClientOptions {
  std::string coordinator;
  net::TlsOptions tls;
  std::filesystem::path wallet;  // Wallet of the operator; not needed with `data`.
  std::filesystem::path data;    // Data folder of the coordinator.
  std::string client;
  double weight = 1;
  bool json = false;
};
[[nodiscard]] int client_list_command(const ClientOptions& options);
[[nodiscard]] int client_weight_command(const ClientOptions& options);

}  // namespace weft::cli
