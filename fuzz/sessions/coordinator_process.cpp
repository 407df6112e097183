#include "fuzz/sessions/coordinator_process.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <unistd.h>
#include <utility>

#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "apps/coordinator/coordinator.h"
#include "common/base/format.h"
#include "common/base/log.h"
#include "fuzz/sessions/busy.h"
#include "fuzz/sessions/random.h"
#include "fuzz/sessions/texts.h"
#include "fuzz/sessions/work.h"

namespace weft::sessions {

using namespace std::chrono_literals;

namespace {

coordinator::Options options_of(std::uint64_t seed) {
  Random random(seed * 31 + 7);
  coordinator::Options out;
  const auto sometimes = [&](std::size_t percent, auto set) {
    if (random.chance(percent)) set();
  };
  out.disk_reserve_bytes = 0;
  out.limits.disk_bytes_kept = 0;
  out.rate_limit = random.chance(30) ? 50 : 0;
  out.grant = 1'000'000'000;
  sometimes(30, [&] { out.require_keys = true; });
  sometimes(30, [&] { out.core.grants_need_invitation = false; });
  sometimes(30, [&] { out.core.count_levels(false); });
  sometimes(50, [&] { out.core.stakes_open = true; });
  sometimes(30, [&] { out.core.stake_permille = 100; });
  sometimes(50, [&] { out.core.pay_held_for = 500ms; });
  sometimes(15, [&] { out.core.jobs_per_client_max = 3; });
  sometimes(15, [&] { out.core.workers_max = 12; });
  sometimes(15, [&] { out.core.departed_max = 2; });
  sometimes(15, [&] { out.core.commits_in_flight_max = 1; });
  sometimes(10, [&] { out.core.tasks_open_max = 60; });
  sometimes(15, [&] { out.blobs_bytes_max = 2'000'000; });
  sometimes(15, [&] { out.blob_bytes_max = 100'000; });
  sometimes(25, [&] { out.blob_ends = {.unused = 1s, .period = 1s}; });
  sometimes(15, [&] { out.limits.connections_max = 60; });
  sometimes(15, [&] { out.limits.connections_per_address = 5; });
  sometimes(15, [&] { out.limits.head_max = 1s; });
  sometimes(15, [&] { out.limits.greeting_max = 1s; });
  sometimes(10, [&] { out.limits.greeting_sockets_max = 4; });
  sometimes(10, [&] { out.limits.bodies_bytes_max = 200'000; });
  sometimes(20, [&] { out.limits.body_max = 1s; });
  sometimes(20, [&] { out.trusted_proxies = {"127.9.0.1"}; });
  sometimes(20, [&] { out.partition = random.chance(50) ? "layer" : "batch"; });
  sometimes(20, [&] { out.wire = random.chance(50) ? "f16" : "i8"; });
  sometimes(20, [&] {
    out.ice_servers = R"([{"urls":["stun:127.0.0.1:3478"]}])";
    out.relays_for_known_only = random.chance(50);
  });
  sometimes(50, [&] { out.core.referee.reputation.probation = 1; });
  // The history's own loop sends the heartbeats of its workers, and is late on a busy machine.
  out.core.scheduler.beats_missed_max *= static_cast<std::uint32_t>(busy());
  return out;
}

// Gives nearby seeds different addresses, from 127.2.0.1 to 127.255.255.254. It leaves out
// 127.9.0.0/16, which contains the trusted proxy.
std::uint32_t address_of(std::uint64_t seed) {
  constexpr std::uint64_t hosts = 254, nets = 256, regions = 250;
  const std::uint64_t region = 2 + seed / hosts / nets % regions;
  return static_cast<std::uint32_t>((127ULL << 24U) | ((region == 9 ? 252 : region) << 16U) |
                                    (seed / hosts % nets << 8U) | (seed % hosts + 1));
}

std::uint16_t free_port(std::uint32_t at) {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(at);
  socklen_t size = sizeof address;
  if (bind(descriptor, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    std::perror("No free port");
  close(descriptor);
  return ntohs(address.sin_port);
}

std::string told(int status) {
  if (WIFSIGNALED(status))
    return weft::format("The coordinator was ended by signal {}.", WTERMSIG(status));
  return weft::format("The coordinator ended with status {}.", WEXITSTATUS(status));
}

}  // namespace

int serve(const Endpoint& at, const std::filesystem::path& data, std::uint64_t seed) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // The coordinator does not outlive its history.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  set_log_level(LogLevel::error);
  auto options = options_of(seed);
  options.listen = text_of_address(at.address);
  options.port = at.port;
  options.data = data;
  const bool verifies = seed % 3 != 0;
  auto running = coordinator::Coordinator::start(
      options, {}, verifies ? coordinator::PartRunnerFactory(make_runner) : nullptr,
      make_text_reader);
  if (!running) {
    log_error("{}", running.error().message);
    // The exit code is 75 if another process got the port between its choice and its use.
    return running.error().code == ErrorCode::unavailable ? 75 : 1;
  }
  int signal = 0;
  sigwait(&signals, &signal);
  (*running)->stop();
  return 0;
}

CoordinatorProcess::CoordinatorProcess(std::filesystem::path data, std::uint64_t seed)
    : data_(std::move(data)), seed_(seed), at_{.address = address_of(seed)} {}

void CoordinatorProcess::start() {
  // The program's own loader, if a bundle starts it.
  static const std::string self = [] {
    const char* given = std::getenv("WEFT_SESSIONS_SELF");
    return given != nullptr ? std::string(given)
                            : std::filesystem::read_symlink("/proc/self/exe").string();
  }();
  at_.port = free_port(at_.address);
  const std::string address = std::to_string(at_.address), port = std::to_string(at_.port),
                    seed = std::to_string(seed_);
  process_ = fork();
  if (process_ == 0) {
    execl(self.c_str(), self.c_str(), "--coordinator", address.c_str(), port.c_str(), data_.c_str(),
          seed.c_str(), nullptr);
    _exit(127);
  }
}

std::string CoordinatorProcess::end() {
  int status = 0;
  if (process_ > 0 && waitpid(process_, &status, WNOHANG) == process_) {
    process_ = 0;
    return told(status);
  }
  return process_ > 0 ? "" : "The coordinator is not there.";
}

std::string CoordinatorProcess::stop() {
  if (process_ <= 0) return "The coordinator is not there.";
  ::kill(process_, SIGTERM);
  for (int waited_ms = 0; waited_ms < 60'000 * busy(); waited_ms += 5) {
    int status = 0;
    if (waitpid(process_, &status, WNOHANG) == process_) {
      process_ = 0;
      return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? "" : told(status);
    }
    std::this_thread::sleep_for(5ms);
  }
  ::kill(process_, SIGABRT);
  return "The coordinator did not end in time after SIGTERM.";
}

void CoordinatorProcess::kill() {
  if (process_ <= 0) return;
  ::kill(process_, SIGKILL);
  waitpid(std::exchange(process_, 0), nullptr, 0);
}

}  // namespace weft::sessions
