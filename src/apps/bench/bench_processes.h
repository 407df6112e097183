// The processes of `weft bench coordinator` and `serving`: a coordinator, and other queues to
// compare it with.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "apps/cli/child_process.h"
#include "apps/cli/interruption.h"
#include "common/base/guarded.h"
#include "common/base/result.h"

namespace weft::cli {

// `weft serve` on a free port of loopback. Ends with this object;
// killed when interrupted(), so that a caller that waits for its answers does not wait on.
class CoordinatorProcess {
 public:
  // What an address may ask and hold: without a bound, or as `weft serve` has it.
  enum class Bounds : std::uint8_t { none, usual };
  // `more`: further options of `weft serve`.
  [[nodiscard]] static Result<std::unique_ptr<CoordinatorProcess>> start(
      const std::filesystem::path& data, const std::vector<std::string>& more = {},
      Bounds bounds = Bounds::none);
  ~CoordinatorProcess();

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] double resident_kib() const;
  [[nodiscard]] double resident_kib_peak() const;
  // Its last lines, for when something goes wrong.
  [[nodiscard]] std::string last_words();

 private:
  struct Log {
    std::vector<std::string> lines;
    std::uint16_t port = 0;
  };
  CoordinatorProcess() = default;

  std::shared_ptr<Guarded<Log>> log_ = std::make_shared<Guarded<Log>>();
  std::unique_ptr<ChildProcess> process_;
  std::uint16_t port_ = 0;
  std::jthread watch_;  // For interruptions; ends before the process does.
};

// bench/peers/NAME.sh: starts the peer in `folder` at the first measurement, and stops it at the
// end.
class PeerProcess {
 public:
  PeerProcess(std::string name, std::filesystem::path folder);
  PeerProcess(const PeerProcess&) = delete;
  ~PeerProcess();

  // Lifecycles a second. unavailable if the peer is not installed or fails; trouble() says it
  // again.
  [[nodiscard]] Result<double> measure(std::uint32_t connections, double seconds);
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

 private:
  [[nodiscard]] Result<std::string> call(std::vector<std::string> arguments);

  const std::string name_;
  const std::filesystem::path folder_;
  bool started_ = false;
  std::string trouble_;
};

}  // namespace weft::cli
