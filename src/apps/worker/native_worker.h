// `weft work`: this machine joins a coordinator and works until it is told to stop.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include "common/base/result.h"
#include "common/protocol/messages.h"

namespace weft::worker {

struct WorkOptions {
  std::string coordinator;                                        // http(s)://HOST[:PORT]
  std::string ca_cert{};                                          // PEM file, for a coordinator with a certificate of its own.
  bool insecure_tls = false;                                      // Any certificate will do.
  protocol::DeviceKind device = protocol::DeviceKind::gpu;        // cpu: the built-in kernels only.
  std::filesystem::path wallet{};                                 // Empty: default_wallet_path(). Made where it is missing.
  std::uint32_t slots = 4;                                        // Tasks held at a time; they run one after the other.
  std::chrono::milliseconds wall_max = std::chrono::seconds(30);  // For one task, whatever its lease allows.
  std::uint64_t memory_bytes = std::uint64_t{1} << 30;            // For one task, on the device.
};

// Blocks until SIGINT or SIGTERM (then it gives back what it holds and says goodbye; a second one ends it at once), or until
// the coordinator refuses it for good. Says what happens in the log, and a summary at the end.
[[nodiscard]] Result<> work(const WorkOptions& options);

}  // namespace weft::worker
