// `weft work`: makes this machine a worker of a coordinator until it is told to stop.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "platform/net/client.h"

namespace weft::worker {

struct WorkOptions {
  std::string coordinator;
  net::TlsOptions tls;
  std::string device = "gpu";  // "gpu" or "cpu".
  std::optional<std::size_t> adapter =
      {};  // Number of the GPU in `weft bench gpu --list`; default: the best one.
  // The operator's invitation; empty: the one that a coordinator on this machine has written.
  std::string invite;
  std::filesystem::path wallet;  // Empty: the default wallet, created if missing.
  // Tasks to hold at a time, so that the data of the next ones is fetched while one runs.
  std::uint32_t slots = 16;
  std::uint32_t wall_ms_max = 30'000;
  std::uint32_t memory_mb = 1024;
  double price = 0;  // Least price for a compute unit, in credits.
  // Above 0: tasks share the device in time slices, each with this part of memory_mb.
  std::uint32_t slice_memory_mb = 0;
  std::uint32_t model_memory_mb = 4096;  // Memory for language models; 0: none are served.
  // Disk space for chunks of models in the cache; 0: no bound.
  std::uint32_t model_disk_mb = 65'536;
  // Runs strangers' shaders even if required parts of the confinement are missing.
  bool unsafe_sandbox = false;
  std::filesystem::path cache;  // Folder for models and compiled pipelines.
  // The address at which other workers of a chain reach this one: ADDRESS, ADDRESS:PORT, or "none"
  // to relay everything through the coordinator. Empty: loopback if the coordinator is on loopback,
  // else the address from which this machine reaches the coordinator.
  std::string peer_listen;
  // Checks the key that a coordinator has proven; an error ends the worker. Empty: any key is
  // accepted.
  std::function<Result<>(const PublicKey&)> accept{};
  // The address that other workers are told if this machine is behind a NAT with a forwarded port;
  // empty: the address of peer_listen.
  std::string peer_address;
};

// Runs until SIGINT or SIGTERM, or until the coordinator refuses this worker or is no coordinator.
// Returns exit code 0 after a stop, 3 if there is no GPU, 2 after a refusal.
[[nodiscard]] int work_command(const WorkOptions& options);

}  // namespace weft::worker
