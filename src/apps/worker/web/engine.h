// The browser's worker for the page: opens a device, loads the key, and runs one session at a time.
//
//   idle -> opening (device, key) -> running (a session) -> idle
//
// Threading: the Worker's one thread. Lifetime: the module's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "apps/worker/web/web_host.h"
#include "apps/worker/web/web_lines.h"
#include "apps/worker/web/web_runner.h"
#include "apps/worker/web/web_serving_host.h"
#include "apps/worker/web/web_signing.h"
#include "common/crypto/keys.h"
#include "worker/inference/serving.h"
#include "worker/tasks/session.h"

namespace weft::worker::web {

class Engine {
 public:
  struct Start {
    std::string coordinator;  // Origin of the coordinator.
    protocol::DeviceKind device = protocol::DeviceKind::gpu;
    std::uint32_t slots = 2;
    // Device memory for tasks and model layers together; 0: the usual amount.
    std::uint64_t memory_bytes = 0;
    // The number of tasks that run at a time, in time slices, each with its part of the tasks'
    // memory. If it is below 2, tasks run one after the other, and each may use all of that memory.
    std::uint32_t slices = 0;
    std::uint64_t price_min = 0;  // Least accepted price of a compute unit, in micro-credits.
    KnownRates known{};
  };

  explicit Engine(std::function<void(const std::string& json)> emit) : emit_(std::move(emit)) {}

  // Starts the worker. Has no effect if it is started already.
  void start(Start start);
  void stop();
  // Takes no new tasks and serves no models. Tasks that are held are finished; shards stay loaded.
  void pause();
  void resume();
  // Sets the share of the time, in [0.05, 1], for tasks and for each model's engine.
  void throttle(double share);
  void wake();
  [[nodiscard]] std::string stats();

  [[nodiscard]] Async<Result<std::string>> wallet();  // Returns the address of the wallet.
  [[nodiscard]] Async<Result<std::string>> export_wallet();
  // Replaces the wallet and returns the address of the new one.
  [[nodiscard]] Async<Result<std::string>> import_wallet(std::string text);
  // Signs "COORDINATOR METHOD TARGET\nBODY" with the wallet. Returns the headers { client, nonce,
  // time, signature }.
  [[nodiscard]] Async<Result<std::string>> sign_request(std::string request);

 private:
  // The objects of one start(). They are destroyed outside of their own events.
  struct Run {
    std::unique_ptr<WebHost> host;
    std::unique_ptr<WebRunner> runner;
    std::unique_ptr<crypto::BrowserKey> key;
    WebSigning signing;
    std::unique_ptr<WebLines> lines;
    std::unique_ptr<WebServingHost> serving_host;
    std::unique_ptr<Serving> serving;  // Language models, on a connection of their own.
    std::unique_ptr<Session> session;
  };
  [[nodiscard]] Async<> open(Start start);
  void join_serving();
  void begin(const Start& start, protocol::Capabilities capabilities);
  void on_event(const Event& event);
  void fail_start(std::string_view code, const std::string& message);
  void end_run();
  void finish_ending();

  std::function<void(const std::string&)> emit_;
  std::unique_ptr<Run> run_;  // Set also while the device is being opened.
  bool stop_wanted_ = false;
  bool ending_ = false;
  std::string serving_token_;  // Token for serving from the last welcome.
  bool paused_ = false;
  double share_ = 1;
};

}  // namespace weft::worker::web
