// The processes of `weft bench coordinator` and `weft bench serving`: a coordinator, and other
// queues to compare it with (peers).
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

// A process of `weft serve` on a free port of loopback, which ends with this object. It is killed
// when interrupted(), so that callers that wait for its replies stop waiting.
class CoordinatorProcess {
 public:
  // The bounds on requests and connections of one address: none, or those of `weft serve`.
  enum class Bounds : std::uint8_t { none, usual };
  // `more` are further options of `weft serve`.
  [[nodiscard]] static Result<std::unique_ptr<CoordinatorProcess>> start(
      const std::filesystem::path& data, const std::vector<std::string>& more = {},
      Bounds bounds = Bounds::none);
  ~CoordinatorProcess();

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] double resident_kib() const;
  [[nodiscard]] double resident_kib_peak() const;
  // The last lines of the coordinator's log, for error messages.
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
  std::jthread watch_;  // Watches for interruptions; ends before process_.
};

// A peer that bench/peers/NAME.sh runs: its first measurement starts the peer in `folder`, and the
// destructor stops it.
class PeerProcess {
 public:
  PeerProcess(std::string name, std::filesystem::path folder);
  PeerProcess(const PeerProcess&) = delete;
  ~PeerProcess();

  // Measures lifecycles a second. Fails with unavailable if the peer is not installed or fails;
  // trouble() then returns the reason.
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
