// `weft worker`: lists a coordinator's workers, and applies the operator's decisions about one.
#pragma once

#include <filesystem>
#include <string>

#include "platform/net/client.h"

namespace weft::cli {

struct WorkerOptions {
  std::string coordinator;
  net::TlsOptions tls;
  std::filesystem::path wallet;  // Wallet of the operator; not needed with `data`.
  std::filesystem::path data;    // Data folder of the coordinator.
  std::string worker;
  bool json = false;
};
[[nodiscard]] int worker_pardon_command(const WorkerOptions& options);
// Lists the connected workers with their balances and the least price that each accepts.
[[nodiscard]] int worker_list_command(const WorkerOptions& options);

}  // namespace weft::cli
