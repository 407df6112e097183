#include "apps/worker/native_worker.h"

#include <csignal>
#include <ctime>
#include <pthread.h>
#include <thread>
#include <unistd.h>

#include "apps/worker/capabilities.h"
#include "apps/worker/cpu_runner.h"
#include "apps/worker/native_host.h"
#include "apps/worker/sandbox_runner.h"
#include "apps/worker/session.h"
#include "common/base/log.h"
#include "common/crypto/wallet.h"

namespace weft::worker {
namespace {

// SIGINT and SIGTERM as a function call, on a thread of its own. Made before any other thread, which then leave them alone.
class StopSignals {
 public:
  StopSignals() {
    ::sigemptyset(&set_);
    ::sigaddset(&set_, SIGINT);
    ::sigaddset(&set_, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  ~StopSignals() {
    thread_ = {};
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  // Called with 1, 2, ... for each signal.
  void listen(std::function<void(int count)> heard) {
    thread_ = std::jthread([this, heard = std::move(heard)](const std::stop_token& stop) {
      for (int count = 0; !stop.stop_requested();) {
        const timespec step{.tv_sec = 0, .tv_nsec = 100'000'000};
        if (::sigtimedwait(&set_, nullptr, &step) > 0) heard(++count);
      }
    });
  }

 private:
  sigset_t set_{};
  sigset_t before_{};
  std::jthread thread_;
};

std::string credits(MicroCredits amount) {
  const char* sign = amount < 0 ? "-" : "";
  const auto size = amount < 0 ? 0 - static_cast<std::uint64_t>(amount) : static_cast<std::uint64_t>(amount);
  return std::format("{}{}.{:06}", sign, size / 1'000'000, size % 1'000'000);
}

std::string task_text(const TaskKey& key) { return std::format("{}/{}", key.task.job.text().substr(0, 8), key.task.index); }

// Each event as a line of the log.
class Announcer {
 public:
  Announcer(std::string coordinator, std::string who) : coordinator_(std::move(coordinator)), who_(std::move(who)) {}

  void operator()(const event::Connecting&) const { log_debug("connecting to {}", coordinator_); }
  void operator()(const event::Connected& connected) const {
    log_info("joined {} as {}, balance {}", coordinator_, who_, credits(connected.balance));
  }
  void operator()(const event::Disconnected& lost) const {
    log_warning("no connection to {}: {} Trying again in {:.1f} s.", coordinator_, lost.reason, seconds(lost.retry));
  }
  void operator()(const event::TaskStarted& task) const { log_debug("task {} begins", task_text(task.key)); }
  void operator()(const event::TaskDone& task) const { log_info("task {} done in {:.3f} s", task_text(task.key), task.wall_seconds); }
  void operator()(const event::TaskFailed& task) const { log_warning("task {} failed: {}", task_text(task.key), task.error.message); }
  void operator()(const event::TaskCancelled& task) const { log_info("task {} taken back: {}", task_text(task.key), task.reason); }
  void operator()(const event::Verdict& verdict) const {
    if (verdict.accepted)
      log_info("task {} accepted, {} credits, balance {}", task_text(verdict.key), credits(verdict.paid), credits(verdict.balance));
    if (!verdict.accepted) log_warning("task {} refused: {}", task_text(verdict.key), verdict.reason);
  }
  void operator()(const event::Refused&) const {}  // The command's error.
  void operator()(const event::Stopped&) const {}

 private:
  std::string coordinator_;
  std::string who_;
};

struct Runner {
  std::unique_ptr<TaskRunner> tasks;
  protocol::Capabilities capabilities;
};

Result<Runner> make_runner(const WorkOptions& options, RunLoop& loop) {
  const auto post = [&loop](std::function<void()> work) { loop.post(std::move(work)); };
  if (options.device == protocol::DeviceKind::cpu) {
    exec::Bounds bounds;
    bounds.bytes_max = options.memory_bytes;
    return Runner{.tasks = std::make_unique<CpuRunner>(bounds, post), .capabilities = cpu_capabilities(options.memory_bytes)};
  }
  Sandbox::Options sandbox;
  sandbox.memory_bytes = options.memory_bytes;
  auto runner = std::make_unique<SandboxRunner>(sandbox, post);
  auto capabilities = runner->describe();
  if (!capabilities) return pass(std::move(capabilities), "while opening the GPU; --device cpu joins without one");
  return Runner{.tasks = std::move(runner), .capabilities = std::move(*capabilities)};
}

void log_summary(const Session::Stats& stats) {
  log_info("left: {} tasks done, {} failed, {} accepted, {} refused, {} credits earned, balance {}", stats.counters.tasks_done,
           stats.counters.tasks_failed, stats.counters.accepted, stats.counters.refused, credits(stats.counters.paid),
           credits(stats.counters.balance));
}

}  // namespace

Result<> work(const WorkOptions& options) {
  StopSignals signals;
  std::filesystem::path wallet = options.wallet;
  if (wallet.empty()) {
    WEFT_ASSIGN(wallet, crypto::default_wallet_path());
  }
  WEFT_ASSIGN(crypto::KeyPair key, crypto::load_or_create_wallet(wallet));
  RunLoop loop;
  WEFT_ASSIGN(const std::unique_ptr<net::Client> client,
              net::Client::create({.url = options.coordinator, .tls = {.ca_cert = options.ca_cert, .insecure = options.insecure_tls}}));
  WEFT_ASSIGN(const Runner runner, make_runner(options, loop));
  const std::string device = runner.capabilities.description.empty() ? runner.capabilities.vendor : runner.capabilities.description;
  log_info("{} with {}", key.public_key().text(), device);

  NativeHost host(loop, *client);
  Session::Options session_options;
  session_options.connection.kind = protocol::WorkerKind::native;
  session_options.connection.slots = options.slots;
  session_options.connection.capabilities = runner.capabilities;
  session_options.work.wall_max = options.wall_max;
  std::optional<Error> refused;
  const Announcer announce(client->url().text(), key.public_key().text());
  Session session(host, *runner.tasks, key, std::move(session_options), [&](const Event& event) {
    std::visit(announce, event);
    if (const auto* refusal = std::get_if<event::Refused>(&event)) refused = refusal->error;
    if (std::holds_alternative<event::Stopped>(event)) loop.quit();
  });
  loop.post([&] { session.start(); });
  signals.listen([&](int count) {
    if (count > 1) ::_exit(130);
    loop.post([&] { session.stop("Stopped by its owner."); });
  });
  loop.run();

  log_summary(session.stats());
  if (refused) return fail(refused->code, "The coordinator refuses this worker: {}", refused->message);
  return {};
}

}  // namespace weft::worker
