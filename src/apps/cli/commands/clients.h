// `weft client`: whose jobs a coordinator has, and what share of the network each client is due.
#pragma once

#include <filesystem>
#include <string>

#include "platform/net/client.h"

namespace weft::cli {

struct ClientOptions {
  std::string coordinator;
  net::TlsOptions tls;
  std::filesystem::path wallet;  // The operator's; or
  std::filesystem::path data;    // the coordinator's folder, where it is.
  std::string client;
  double weight = 1;
  bool json = false;
};
[[nodiscard]] int client_list_command(const ClientOptions& options);
[[nodiscard]] int client_weight_command(const ClientOptions& options);

}  // namespace weft::cli
