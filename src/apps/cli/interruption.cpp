#include "apps/cli/interruption.h"

#include <algorithm>
#include <csignal>
#include <thread>

#include "common/base/clock.h"

namespace weft::cli {
namespace {

constexpr auto look_every = std::chrono::milliseconds(20);

volatile std::sig_atomic_t signalled = 0;

}  // namespace

void note_interruptions() {
  struct sigaction action = {};
  action.sa_handler = [](int) { signalled = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return signalled != 0; }

void sleep_unless_interrupted(std::chrono::milliseconds time) {
  const Instant end = now() + time;
  for (Instant at = now(); at < end && !interrupted(); at = now())
    std::this_thread::sleep_for(std::min<Duration>(look_every, end - at));
}

}  // namespace weft::cli
