#include "apps/worker/web/engine.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "apps/worker/web/events_web.h"
#include "apps/worker/web/imports.h"
#include "apps/worker/web/lab_json.h"
#include "apps/worker/web/serving_imports.h"
#include "common/base/clock.h"
#include "common/crypto/ordered_id.h"
#include "common/crypto/sha256.h"
#include "common/protocol/digests.h"
#include "common/protocol/signing.h"

namespace weft::worker::web {
namespace {

// Bounds are low, because a tab shares its machine with its user.
constexpr exec::Bounds bounds_most = {.binding_bytes_max = std::uint64_t{128} << 20,
                                      .bytes_max = std::uint64_t{512} << 20};

constexpr std::uint64_t memory_usual_gpu = std::uint64_t{2560} << 20;
constexpr std::uint64_t memory_usual_cpu = std::uint64_t{1536} << 20;
// The most bytes of a model on the CPU: its weights are in the module's own memory, which is at
// most 4 GiB.
constexpr std::uint64_t model_bytes_cpu_max = std::uint64_t{2} << 30;

struct Shares {
  exec::Bounds tasks;
  std::uint64_t models = 0;
};
// A third of the memory is for the running task, up to the general bound of a task; the rest is for
// models.
Shares share_memory(const Engine::Start& start) {
  const bool gpu = start.device == protocol::DeviceKind::gpu;
  const std::uint64_t all = start.memory_bytes > 0 ? start.memory_bytes
                            : gpu                  ? memory_usual_gpu
                                                   : memory_usual_cpu;
  Shares shares{.tasks = bounds_most};
  shares.tasks.bytes_max = std::min(bounds_most.bytes_max, all / 3);
  shares.tasks.binding_bytes_max = std::min(bounds_most.binding_bytes_max, shares.tasks.bytes_max);
  shares.models = all - shares.tasks.bytes_max;
  if (!gpu) shares.models = std::min(shares.models, model_bytes_cpu_max);
  return shares;
}

void later(std::function<void()> work) { weft_timer(new TimerCallback{std::move(work)}, 0); }

}  // namespace

void Engine::start(Start start) {
  if (run_) return;
  run_ = std::make_unique<Run>();
  stop_wanted_ = false;
  weft::start(open(std::move(start)));
}

Async<> Engine::open(Start start) {
  emit_(measuring_json());
  run_->runner = std::make_unique<WebRunner>(share_memory(start).tasks, start.known);
  Result<protocol::Capabilities> capabilities = co_await run_->runner->open(start.device);
  if (!capabilities) {
    fail_start("device", capabilities.error().message);
    co_return;
  }
  emit_(device_json(*capabilities));
  auto key = co_await crypto::BrowserKey::load_or_create();
  if (!key) {
    fail_start("wallet", key.error().message);
    co_return;
  }
  run_->key = std::move(*key);
  emit_(wallet_json(run_->key->public_key().text()));
  begin(start, std::move(*capabilities));
}

void Engine::begin(const Start& start, protocol::Capabilities capabilities) {
  if (stop_wanted_) {
    emit_(event_json(event::Stopped{}));
    return end_run();
  }
  run_->runner->on_news(
      {.lost = [this](const std::string& reason) { emit_(device_lost_json(reason)); },
       .back = [this](const protocol::Capabilities& device) { emit_(device_json(device)); },
       .gone =
           [this](const Error& error) {
             emit_(failed_json("device", error.message));
             end_run();
           }});
  run_->host = std::make_unique<WebHost>(start.coordinator);
  const bool gpu = start.device == protocol::DeviceKind::gpu;
  run_->serving_host = std::make_unique<WebServingHost>(start.coordinator, gpu);
  run_->serving_host->throttle(share_);
  Serving::Options serving{.memory_bytes = share_memory(start).models,
                           .gb_per_s = capabilities.copy_gb_per_s,
                           .signer = run_->key.get()};
  if (weft_lines_there() != 0) {
    run_->lines = std::make_unique<WebLines>();
    serving.lines = {"webrtc"};
    serving.peers = run_->lines.get();
  }
  run_->serving = std::make_unique<Serving>(*run_->serving_host, std::move(serving));
  Session::Options options;
  serving_token_.clear();
  options.on_welcome = [this](const protocol::Welcome& welcome) {
    serving_token_ = welcome.blob_token;
    join_serving();
  };
  options.connection.kind = protocol::WorkerKind::browser;
  options.connection.capabilities = std::move(capabilities);
  options.connection.slots = start.slots;
  options.connection.price_min = start.price_min;
  options.connection.host =
      protocol::canonical_host(start.coordinator.substr(start.coordinator.find("://") + 3));
  if (start.slices > 1) {
    options.connection.slots = start.slices;
    options.connection.slice_memory_bytes = share_memory(start).tasks.bytes_max / start.slices;
    options.work.slices = start.slices;
    options.work.slice_memory_bytes = options.connection.slice_memory_bytes;
    options.work.memory_bytes = share_memory(start).tasks.bytes_max;
  }
  options.work.signing = &run_->signing;
  options.work.jobs.bytes_max = share_memory(start).tasks.bytes_max;
  options.work.blobs.cache_bytes_max =
      std::min(std::uint64_t{128} << 20, options.work.jobs.bytes_max);
  run_->session = std::make_unique<Session>(*run_->host, *run_->runner, *run_->key, options,
                                            [this](const Event& event) { on_event(event); });
  run_->session->throttle(share_);
  if (paused_) run_->session->pause();
  run_->session->start();
}

void Engine::on_event(const Event& event) {
  if (!run_ || ending_) return;
  if (const auto* refused = std::get_if<event::Refused>(&event)) {
    emit_(failed_json("refused", refused->error.message));
    return end_run();
  }
  if (std::string json = event_json(event); !json.empty()) emit_(json);
  if (std::holds_alternative<event::Stopped>(event)) end_run();
}

void Engine::fail_start(std::string_view code, const std::string& message) {
  emit_(failed_json(code, message));
  end_run();
}

// The session may be inside an event, and a task may still run on the device: the session is
// destroyed later, and the runner when its task has ended.
void Engine::end_run() {
  ending_ = true;
  later([this] { finish_ending(); });
}

void Engine::finish_ending() {
  if (!run_) return;
  run_->session.reset();
  if (run_->serving) run_->serving->leave();
  run_->host.reset();
  if (run_->runner && !run_->runner->idle()) {
    weft_timer(new TimerCallback{[this] { finish_ending(); }}, 20);
    return;
  }
  run_.reset();
  ending_ = false;
}

void Engine::stop() {
  if (!run_ || ending_) {
    if (!run_) emit_(event_json(event::Stopped{}));
    return;
  }
  stop_wanted_ = true;
  if (run_->serving) run_->serving->leave();
  if (run_->session) run_->session->stop("The tab stops contributing.");
}

void Engine::pause() {
  paused_ = true;
  if (!run_ || !run_->session) return;
  run_->session->pause();
  run_->serving->leave();
}

void Engine::resume() {
  if (!std::exchange(paused_, false) || !run_ || !run_->session || stop_wanted_) return;
  run_->session->resume();
  join_serving();
}

// Joins with the last token. If the token has expired, the coordinator refuses it, and the next
// welcome brings another one.
void Engine::join_serving() {
  if (!paused_ && !serving_token_.empty()) run_->serving->join(serving_token_);
}

void Engine::throttle(double share) {
  share_ = std::clamp(share, 0.05, 1.0);
  if (!run_ || !run_->session) return;
  run_->session->throttle(share_);
  run_->serving_host->throttle(share_);
}

void Engine::wake() {
  if (run_ && run_->session) run_->session->wake();
}

std::string Engine::stats() {
  if (run_ && run_->session) return stats_json(run_->session->stats(), run_->serving->stats());
  return stats_json({}, {});
}

Async<Result<std::string>> Engine::wallet() {
  WEFT_CO_ASSIGN(const auto key, co_await crypto::BrowserKey::load_or_create());
  co_return key->public_key().text();
}

Async<Result<std::string>> Engine::export_wallet() {
  WEFT_CO_ASSIGN(const auto key, co_await crypto::BrowserKey::load_or_create());
  co_return co_await key->export_wallet();
}

Async<Result<std::string>> Engine::import_wallet(std::string text) {
  WEFT_CO_ASSIGN(const auto key, co_await crypto::BrowserKey::import_wallet(std::move(text)));
  co_return key->public_key().text();
}

Async<Result<std::string>> Engine::sign_request(std::string request) {
  const std::size_t line = request.find('\n');
  const std::string_view head = std::string_view(request).substr(0, line);
  const std::size_t method = head.find(' ');
  const std::size_t target = method == std::string::npos ? method : head.find(' ', method + 1);
  if (line == std::string::npos || target == std::string::npos)
    co_return fail(ErrorCode::invalid_argument,
                   "The text to sign must begin with \"COORDINATOR METHOD TARGET\" and a newline.");
  WEFT_CO_ASSIGN(const PublicKey coordinator, PublicKey::parse(head.substr(0, method)));
  WEFT_CO_ASSIGN(const auto key, co_await crypto::BrowserKey::load_or_create());
  const auto nonce = crypto::ordered_id();
  const UnixMillis time = unix_now();
  const ByteVector digest = protocol::request_digest(
      {.coordinator = coordinator,
       .method = head.substr(method + 1, target - method - 1),
       .target = protocol::read_target(head.substr(target + 1)),
       .body = crypto::sha256(as_bytes(std::string_view(request).substr(line + 1))),
       .time = time,
       .nonce = nonce});
  WEFT_CO_ASSIGN(const Signature signature, co_await key->sign(digest));
  co_return signed_json({.client = key->public_key().text(),
                         .nonce = to_hex(nonce),
                         .time = std::to_string(time),
                         .signature = signature.text()});
}

}  // namespace weft::worker::web
