// A real coordinator as a process of its own: this program, started again with --coordinator. So
// its memory is looked over by the sanitizers, its end by the leak check, and a crash is told from
// an orderly end by its status.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include <sys/types.h>

#include "fuzz/sessions/wire.h"

namespace weft::sessions {

// What the program does as a coordinator; bounds and switches follow from the seed.
[[nodiscard]] int serve(const Endpoint& at, const std::filesystem::path& data, std::uint64_t seed);

class CoordinatorProcess {
 public:
  CoordinatorProcess(std::filesystem::path data, std::uint64_t seed);
  CoordinatorProcess(const CoordinatorProcess&) = delete;
  ~CoordinatorProcess() { kill(); }

  // On a free port of the history's own address: histories that run at once never meet each
  // other's coordinators, whatever ports the system gives. It answers a moment later.
  void start();
  // Empty if it still runs; otherwise how it ended.
  [[nodiscard]] std::string end();
  // An orderly end: empty, or what was wrong with it (also a leak).
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
