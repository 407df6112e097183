// `weft work`: this machine joins a coordinator and works until it is told to stop.
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
      {};              // Which GPU, by its number in `weft bench gpu --list`; the best one without.
  std::string invite;  // The operator's invitation; empty: what a coordinator of this machine left.
  std::filesystem::path wallet;  // Empty: the default one, made when missing.
  std::uint32_t slots = 16;  // Tasks to hold at a time: one runs, the next one's data is fetched;
                             // small ones come in batches.
  std::uint32_t wall_ms_max = 30'000;
  std::uint32_t memory_mb = 1024;
  double price = 0;                   // Credits for a compute unit: the least that it accepts.
  std::uint32_t slice_memory_mb = 0;  // Above 0: tasks share the device in time slices, each in a
                                      // partition of so much of memory_mb.
  std::uint32_t model_memory_mb = 4096;  // For language models; 0: serves none.
  std::uint32_t model_disk_mb = 65'536;  // For models' chunks in the cache; 0: no bound.
  bool unsafe_sandbox = false;           // Runs strangers' shaders although required parts of their
                                         // confinement are missing on this machine.
  std::filesystem::path cache;           // Keeps models and compiled pipelines.
  // Where other workers of a chain reach this one: ADDRESS, ADDRESS:PORT, or "none": everything
  // goes over the coordinator. Empty: loopback where the coordinator is on loopback, else the
  // address by which this machine reaches it.
  std::string peer_listen;
  // Whether the key that a coordinator has proved is the one that it must have; an error ends the
  // worker. Nothing: any is taken.
  std::function<Result<>(const PublicKey&)> accept{};
  std::string peer_address;  // The same place as others see it, behind a NAT with a forwarded port;
                             // empty: peer_listen.
};

// Runs until SIGINT or SIGTERM, or until the coordinator refuses this worker or turns out to be
// none. Exit code: 0 after a stop, 3 if there is no GPU, 2 after a refusal.
[[nodiscard]] int work_command(const WorkOptions& options);

}  // namespace weft::worker
