// `weft verdict`: prints how results were decided, and the evidence.
#pragma once

#include <filesystem>
#include <string>

#include "platform/net/client.h"

namespace weft::cli {

struct VerdictOptions {
  std::string id;  // positional: JOB, JOB/INDEX or a worker's key
  std::string coordinator;
  net::TlsOptions tls;
  std::filesystem::path wallet;  // Wallet of the user; empty: the default one.
  std::filesystem::path data;    // Data folder of the coordinator, if its operator asks.
  bool json = false;
};

[[nodiscard]] int verdict_command(const VerdictOptions& options);

}  // namespace weft::cli
