// `weft worker`: who works for a coordinator, and what its operator decides about one.
#pragma once

#include <filesystem>
#include <string>

#include "platform/net/client.h"

namespace weft::cli {

struct WorkerOptions {
  std::string coordinator;
  net::TlsOptions tls;
  std::filesystem::path wallet;  // The operator's; or
  std::filesystem::path data;    // the coordinator's folder, where it is.
  std::string worker;
  bool json = false;
};
[[nodiscard]] int worker_pardon_command(const WorkerOptions& options);
// Those that are connected, with what they hold and the least that each accepts.
[[nodiscard]] int worker_list_command(const WorkerOptions& options);

}  // namespace weft::cli
