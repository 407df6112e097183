#include "apps/worker/native/work_command.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <memory>
#include <mutex>
#include <signal.h>
#include <tuple>

#include "apps/worker/native/coordinator_check.h"
#include "apps/worker/native/cpu_runner.h"
#include "apps/worker/native/native_host.h"
#include "apps/worker/native/serving_process.h"
#include "apps/worker/native/signing_file.h"
#include "apps/worker/native/tcp_lines.h"
#include "apps/worker/native/thread_runner.h"
#include "common/base/log.h"
#include "common/crypto/own_invitation.h"
#include "common/crypto/wallet.h"
#include "common/protocol/digests.h"
#include "platform/net/server.h"
#include "platform/net/streams.h"
#include "worker/sandbox/sandbox_runner.h"
#include "worker/tasks/session.h"

namespace weft::worker {
namespace {

constexpr auto report_every = std::chrono::seconds(10);
constexpr auto stop_max = std::chrono::seconds(10);

double credits(MicroCredits amount) { return static_cast<double>(amount) * 1e-6; }

Result<std::filesystem::path> wallet_path(const WorkOptions& options) {
  if (!options.wallet.empty()) return options.wallet;
  return crypto::default_wallet_path();
}

// The runner of tasks and its capabilities.
struct Device {
  std::unique_ptr<BlockingRunner> kernels;  // Set for the device cpu; outlives its runner.
  std::unique_ptr<TaskRunner> runner;
  protocol::Capabilities capabilities;
};

Result<Device> make_device(const WorkOptions& options, net::Client& client) {
  const std::uint64_t memory_bytes = std::uint64_t{options.memory_mb} << 20;
  const auto post = [&client](std::function<void()> work) { client.post(std::move(work)); };
  Device device;
  if (options.device == "cpu") {
    exec::Bounds bounds;
    bounds.bytes_max = memory_bytes;
    device.kernels = std::make_unique<CpuRunner>(bounds);
    device.runner = std::make_unique<ThreadRunner>(*device.kernels, post);
    device.capabilities = measure_cpu(memory_bytes);
    return device;
  }
  Sandbox::Options sandbox;
  sandbox.memory_bytes = memory_bytes;
  sandbox.adapter = options.adapter;
  sandbox.unsafe = options.unsafe_sandbox;
  auto runner = std::make_unique<SandboxRunner>(std::move(sandbox), post);
  WEFT_ASSIGN(device.capabilities, runner->describe());
  device.runner = std::move(runner);
  return device;
}

// The end of the session, for which the main thread waits.
class Ending {
 public:
  void reach(std::optional<Error> error) {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    ended_ = true;
    error_ = std::move(error);
    changed_.notify_all();
  }
  [[nodiscard]] bool reached_within(Duration wait) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, wait, [this] { return ended_; });
  }
  [[nodiscard]] std::optional<Error> error() {
    const std::lock_guard lock(mutex_);
    return error_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::optional<Error> error_;
};

// Checks, after each connection that is lost before the first welcome, whether the server is a
// coordinator that refuses this worker. Used on the client's thread.
class FirstContact {
 public:
  FirstContact(std::string url, Ending& ending) : url_(std::move(url)), ending_(ending) {}

  void joined() { joined_ = true; }
  [[nodiscard]] bool has_joined() const { return joined_; }
  void lost(net::Client& client) {
    if (joined_ || asking_) return;
    asking_ = true;
    client.send(net::get("/v1/info"), [this](const Result<net::Response>& info) {
      asking_ = false;
      if (const Result<> checked = check_coordinator(url_, info); !checked)
        ending_.reach(checked.error());
    });
  }

 private:
  const std::string url_;
  Ending& ending_;
  std::atomic<bool> joined_ = false;
  bool asking_ = false;
};

// Logs a worker's events: one line for each important event, and all other events at debug level.
struct Teller {
  std::string coordinator;
  std::string key;
  std::string device;
  net::Client& client;
  FirstContact& contact;
  Ending& ending;
  mutable bool was_held = false;  // True if the pay of the last accepted task was held.

  void operator()(const Event& event) const {
    std::visit([this](const auto& what) { tell(what); }, event);
  }
  void tell(const event::Connecting&) const { log_debug("connecting to {}", coordinator); }
  void tell(const event::Connected& what) const {
    contact.joined();
    log_info("joined {} as {} with {}; {:.6f} credits so far", coordinator, key, device,
             credits(what.balance));
  }
  void tell(const event::Disconnected& what) const {
    const std::string_view reason =
        std::string_view(what.reason).substr(0, what.reason.find_last_not_of('.') + 1);
    if (contact.has_joined()) {
      log_warning("lost {}: {}; trying again in {:.1f} s", coordinator, reason,
                  seconds(what.retry));
    } else {
      log_warning("{}; trying again in {:.1f} s", reason, seconds(what.retry));
    }
    contact.lost(client);
  }
  void tell(const event::TaskStarted& what) const {
    log_debug("task {} starts", what.key.task.text());
  }
  void tell(const event::TaskResumed& what) const {
    log_info("task {} continues at {} of {}", what.key.task.text(), what.done, what.of);
  }
  void tell(const event::TaskAdvanced& what) const {
    log_debug("task {} did {} parts: {} of {}", what.key.task.text(), what.parts, what.done,
              what.of);
  }
  void tell(const event::TaskCheckpointed& what) const {
    if (what.stopped)
      return log_info("task {} makes way at {} of {}", what.key.task.text(), what.done, what.of);
    log_debug("task {} is kept at {} of {}", what.key.task.text(), what.done, what.of);
  }
  void tell(const event::TaskDone& what) const {
    log_debug("task {} done in {:.3f} s", what.key.task.text(), what.wall_seconds);
  }
  void tell(const event::TaskFailed& what) const {
    log_warning("task {} failed: {}", what.key.task.text(), what.error.message);
  }
  void tell(const event::TaskCancelled& what) const {
    log_debug("task {} cancelled: {}", what.key.task.text(), what.reason);
  }
  void tell(const event::Verdict& what) const {
    if (what.accepted) {
      log_debug("task {} accepted: {:.6f} credits", what.key.task.text(), credits(what.paid));
      // If the pay of several tasks in a row is held, the reason is logged for the first task only.
      if (!what.reason.empty() && !was_held) log_info("{}", what.reason);
      was_held = !what.reason.empty();
    } else {
      log_warning("task {} refused: {}", what.key.task.text(), what.reason);
    }
  }
  void tell(const event::Refused& what) const {
    log_error("{} refuses this worker: {}", coordinator, what.error.message);
    ending.reach(what.error);
  }
  void tell(const event::Stopped&) const { ending.reach({}); }
};

// Logs the work since the last call, if there was any.
void tell_progress(const Session::Stats& stats, Counters& last) {
  if (stats.counters.tasks_done == last.tasks_done && stats.counters.accepted == last.accepted)
    return;
  last = stats.counters;
  log_info("{} tasks done, {} accepted, {:.6f} credits earned here", last.tasks_done, last.accepted,
           credits(last.paid));
}

// Runs a function on the client's thread and waits for it.
template <class Function>
auto on_thread(net::Client& client, Function function) {
  using Value = decltype(function());
  std::promise<Value> promise;
  client.post([&] {
    if constexpr (std::is_void_v<Value>) {
      function();
      promise.set_value();
    } else {
      promise.set_value(function());
    }
  });
  return promise.get_future().get();
}

// Parses ADDRESS or ADDRESS:PORT, with an IPv6 address in brackets if a port follows.
Result<std::pair<std::string, std::uint16_t>> split_peer(std::string_view option,
                                                         std::string_view text) {
  std::string_view address = text;
  std::uint16_t port = 0;
  bool good = true;
  const auto colon = text.rfind(':');
  const bool bare_v6 = !text.starts_with('[') && std::ranges::count(text, ':') > 1;
  if (colon != std::string_view::npos && !bare_v6 && text.back() != ']') {
    address = text.substr(0, colon);
    const std::string_view digits = text.substr(colon + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    good = error == std::errc() && end == digits.data() + digits.size();
  }
  if (address.starts_with('[') && address.ends_with(']'))
    address = address.substr(1, address.size() - 2);
  if (address == "localhost") address = "127.0.0.1";
  if (!good || !net::is_address(std::string(address)))
    return fail(ErrorCode::invalid_argument,
                "{} {} is not an ADDRESS[:PORT] such as 192.168.1.5 or [fe80::1]:7400.", option,
                text);
  return std::pair(std::string(address), port);
}

// Checks the options that can be checked before the coordinator is contacted.
Result<> check_options(const WorkOptions& options) {
  if (options.slice_memory_mb > options.memory_mb) {
    return fail(ErrorCode::invalid_argument,
                "--slice-memory-mb {} is more than all of --memory-mb ({}), so no task would fit.",
                options.slice_memory_mb, options.memory_mb);
  }
  if (!options.peer_listen.empty() && options.peer_listen != "none")
    WEFT_OK(split_peer("--peer-listen", options.peer_listen));
  if (!options.peer_address.empty()) WEFT_OK(split_peer("--peer-address", options.peer_address));
  return {};
}

// Called on the client's thread. Returns null if links are not wanted, or if the default links
// cannot be opened.
Result<std::unique_ptr<TcpLines>> make_lines(const WorkOptions& options, net::Client& client) {
  if (options.peer_listen == "none") return nullptr;
  const net::Url& coordinator = client.url();
  const std::string towards = net::address_towards(coordinator.host, coordinator.port);
  const bool on_loopback = net::is_loopback(towards);
  TcpLines::Options lines{.listen = towards,
                          .calls = {.loopback = on_loopback},
                          .scratch = options.cache,
                          .after = [&client](Duration delay, std::function<void()> work) {
                            client.after(delay, std::move(work));
                          }};
  if (!options.peer_listen.empty()) {
    WEFT_ASSIGN(const auto at, split_peer("--peer-listen", options.peer_listen));
    std::tie(lines.listen, lines.port) = at;
    // An address that means "all interfaces" is replaced, because other workers cannot connect to
    // it.
    if (lines.listen == "0.0.0.0" || lines.listen == "::") lines.address = towards;
  }
  if (!options.peer_address.empty()) {
    WEFT_ASSIGN(const auto at, split_peer("--peer-address", options.peer_address));
    std::tie(lines.address, lines.address_port) = at;
  }
  std::error_code ignored;
  std::filesystem::create_directories(options.cache, ignored);
  if (options.cache.empty()) lines.scratch = std::filesystem::temp_directory_path();
  auto made = lines.listen.empty()
                  ? Result<std::unique_ptr<TcpLines>>(
                        fail(ErrorCode::unavailable, "The coordinator's address is not known yet."))
                  : TcpLines::create(std::move(lines));
  if (made || !options.peer_listen.empty()) return made;
  log_info("No direct lines to other workers, all goes over the coordinator: {}",
           made.error().message);
  return nullptr;
}

// Serves language models in a confined process of its own. Its connections have a client and a
// thread of their own, so that they and the session do not wait for each other.
class ModelService {
 public:
  static Result<std::unique_ptr<ModelService>> create(const WorkOptions& options, double gb_per_s) {
    if (options.model_memory_mb == 0) return nullptr;
    WEFT_ASSIGN(auto client, net::Client::create({.url = options.coordinator, .tls = options.tls}));
    std::unique_ptr<ModelService> out(new ModelService(std::move(client)));
    WEFT_ASSIGN(out->lines_,
                on_thread(*out->client_, [&] { return make_lines(options, *out->client_); }));
    ServingProcess::Options process{
        .gpu = options.device != "cpu",
        .adapter = options.adapter,
        .unsafe = options.unsafe_sandbox,
        .models = options.cache / "models",
        .models_bytes_max = std::uint64_t{options.model_disk_mb} << 20,
        .setup = {.memory_bytes = std::uint64_t{options.model_memory_mb} << 20,
                  .gb_per_s = gb_per_s}};
    if (out->lines_) {
      process.setup.lines = {out->lines_->line()};
      process.setup.line_patience_ms = 1500;  // A TCP connection attempt gives up before this time.
    }
    out->process_ =
        std::make_unique<ServingProcess>(*out->client_, out->lines_.get(), std::move(process));
    return out;
  }
  ~ModelService() {
    process_.reset();
    on_thread(*client_, [this] { lines_.reset(); });
  }

  void join(std::string token) { process_->join(std::move(token)); }

 private:
  explicit ModelService(std::unique_ptr<net::Client> client) : client_(std::move(client)) {}

  const std::unique_ptr<net::Client> client_;
  std::unique_ptr<TcpLines> lines_;
  std::unique_ptr<ServingProcess> process_;
};

sigset_t stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
}

// Waits for a short time; true if a signal came.
bool signalled(const sigset_t& signals, Duration wait) {
  const timespec time{.tv_sec = 0,
                      .tv_nsec = static_cast<long>(
                          std::chrono::duration_cast<std::chrono::nanoseconds>(wait).count())};
  return ::sigtimedwait(&signals, nullptr, &time) > 0;
}

Result<> work(const WorkOptions& options) {
  // The signals are blocked before any thread starts, so that only the loop below receives them.
  const sigset_t signals = stop_signals();
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  WEFT_OK(check_options(options));
  Ending ending;
  // `contact` and `ending` outlive the client, whose thread uses them.
  FirstContact contact(options.coordinator, ending);
  WEFT_ASSIGN(const std::filesystem::path wallet_file, wallet_path(options));
  WEFT_ASSIGN(crypto::KeyPair wallet, crypto::load_or_create_wallet(wallet_file));
  WEFT_ASSIGN(const auto client,
              net::Client::create({.url = options.coordinator, .tls = options.tls}));
  WEFT_ASSIGN(Device device, make_device(options, *client));

  WEFT_ASSIGN(auto models, ModelService::create(options, device.capabilities.copy_gb_per_s));

  NativeHost host(*client);
  SigningFile signing(wallet_file.string() + ".signed",
                      [&client](std::function<void()> work) { client->post(std::move(work)); });
  Session::Options session_options;
  session_options.connection.capabilities = device.capabilities;
  session_options.connection.slots = options.slots;
  session_options.connection.host = protocol::canonical_host(client->url().authority());
  session_options.connection.accept = options.accept;
  session_options.connection.invite =
      [given = options.invite, key = wallet.public_key()](const protocol::Challenge& asked) {
        return given.empty() ? crypto::own_invitation(asked.invite_file, asked.coordinator, key)
                             : given;
      };
  session_options.connection.price_min =
      static_cast<std::uint64_t>(std::llround(options.price * 1e6));
  if (options.slice_memory_mb > 0) {
    session_options.connection.slice_memory_bytes = std::uint64_t{options.slice_memory_mb} << 20;
    session_options.work.slices = options.slots;
    session_options.work.slice_memory_bytes = session_options.connection.slice_memory_bytes;
    session_options.work.memory_bytes = device.capabilities.memory_bytes;
  }
  const std::uint64_t memory_bytes = std::uint64_t{options.memory_mb} << 20;
  session_options.work.jobs.bytes_max = memory_bytes;
  session_options.work.blobs.cache_bytes_max =
      std::min(session_options.work.blobs.cache_bytes_max, memory_bytes);
  session_options.work.signing = &signing;
  session_options.work.wall_max = std::chrono::milliseconds(options.wall_ms_max);
  if (models)
    session_options.on_welcome = [&models](const protocol::Welcome& welcome) {
      models->join(welcome.blob_token);
    };
  std::unique_ptr<Session> session;
  on_thread(*client, [&] {
    session = std::make_unique<Session>(host, *device.runner, wallet, session_options,
                                        Teller{.coordinator = options.coordinator,
                                               .key = wallet.public_key().text(),
                                               .device = device.capabilities.description,
                                               .client = *client,
                                               .contact = contact,
                                               .ending = ending});
    session->start();
  });

  Counters told;
  Instant tell_at = now() + report_every;
  bool ended = false;
  while (!(ended = ending.reached_within(std::chrono::milliseconds(0))) &&
         !signalled(signals, std::chrono::milliseconds(200))) {
    if (now() < tell_at) continue;
    tell_at += report_every;
    tell_progress(on_thread(*client, [&] { return session->stats(); }), told);
  }
  if (!ended) {
    log_info("stopping; Ctrl-C again to stop at once");
    client->post([&] { session->stop("stopped by its owner"); });
    const Instant give_up = now() + stop_max;
    while (now() < give_up && !ending.reached_within(std::chrono::milliseconds(50)) &&
           !signalled(signals, std::chrono::milliseconds(50))) {
    }
  }
  const Session::Stats stats = on_thread(*client, [&] {
    Session::Stats last = session->stats();
    session.reset();
    return last;
  });
  models.reset();
  device.runner.reset();
  if (contact.has_joined()) {
    std::fprintf(stderr, "%llu tasks done, %llu accepted, %.6f credits earned\n",
                 static_cast<unsigned long long>(stats.counters.tasks_done),
                 static_cast<unsigned long long>(stats.counters.accepted),
                 credits(stats.counters.paid));
  }
  if (const std::optional<Error> error = ending.error()) return std::unexpected(*error);
  return {};
}

}  // namespace

int work_command(const WorkOptions& options) {
  const Result<> result = work(options);
  if (result) return 0;
  std::fprintf(stderr, "weft work: %s\n", result.error().message.c_str());
  return result.error().code == ErrorCode::unavailable ? 3 : 2;
}

}  // namespace weft::worker
