// A real coordinator as a separate process: this program, started again with --coordinator. So the
// sanitizers check its memory, the leak check runs at its end, and its exit status shows whether it
// crashed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include <sys/types.h>

#include "fuzz/sessions/wire.h"

namespace weft::sessions {

// Runs the program as a coordinator. Bounds and switches follow from the seed.
[[nodiscard]] int serve(const Endpoint& at, const std::filesystem::path& data, std::uint64_t seed);

class CoordinatorProcess {
 public:
  CoordinatorProcess(std::filesystem::path data, std::uint64_t seed);
  CoordinatorProcess(const CoordinatorProcess&) = delete;
  ~CoordinatorProcess() { kill(); }

  // Starts the coordinator on a free port of the history's own address, so that histories that run
  // at once never reach each other's coordinators. The coordinator answers a moment later.
  void start();
  // Returns how the process ended; empty if it still runs.
  [[nodiscard]] std::string end();
  // Ends the coordinator in order. Returns the error of its end, such as a leak; empty if there is
  // no error.
  [[nodiscard]] std::string stop();
  void kill();
  [[nodiscard]] const Endpoint& at() const { return at_; }

 private:
  const std::filesystem::path data_;
  const std::uint64_t seed_;
  Endpoint at_;
  pid_t process_ = 0;
};

}  // namespace weft::sessions
