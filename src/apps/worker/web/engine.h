// The browser's worker as the page drives it: opens a device, loads the key, and runs one session
// at a time.
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
    std::string coordinator;  // Its origin.
    protocol::DeviceKind device = protocol::DeviceKind::gpu;
    std::uint32_t slots = 2;
    // What tasks and the layers of models may take together on the device; 0: as much as is usual.
    std::uint64_t memory_bytes = 0;
    // So many tasks run at a time, in time slices, each in its part of the tasks' memory; below 2:
    // one after the other, with all of it.
    std::uint32_t slices = 0;
    std::uint64_t price_min = 0;  // The least for a compute unit that it accepts: micro-credits.
    KnownRates known{};
  };

  explicit Engine(std::function<void(const std::string& json)> emit) : emit_(std::move(emit)) {}

  // Ignored while started.
  void start(Start start);
  void stop();
  // No new tasks, and no models are served; what is held is finished, shards stay loaded.
  void pause();
  void resume();
  // Share of the time spent on tasks, and that of each model's engine; in [0.05, 1].
  void throttle(double share);
  void wake();
  [[nodiscard]] std::string stats();

  [[nodiscard]] Async<Result<std::string>> wallet();  // The address.
  [[nodiscard]] Async<Result<std::string>> export_wallet();
  [[nodiscard]] Async<Result<std::string>> import_wallet(std::string text);  // The new address.
  // { client, nonce, time, signature }: the headers that sign "COORDINATOR METHOD TARGET\nBODY"
  // with the wallet.
  [[nodiscard]] Async<Result<std::string>> sign_request(std::string request);

 private:
  // What one start has made. It ends outside of its own events.
  struct Run {
    std::unique_ptr<WebHost> host;
    std::unique_ptr<WebRunner> runner;
    std::unique_ptr<crypto::BrowserKey> key;
    WebSigning signing;
    std::unique_ptr<WebLines> lines;
    std::unique_ptr<WebServingHost> serving_host;
    std::unique_ptr<Serving> serving;  // Language models, on a line of its own.
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
  std::unique_ptr<Run> run_;  // Also while it opens.
  bool stop_wanted_ = false;
  bool ending_ = false;
  std::string serving_token_;  // From the last welcome.
  bool paused_ = false;
  double share_ = 1;
};

}  // namespace weft::worker::web
