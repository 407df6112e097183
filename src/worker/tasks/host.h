// The services that a worker's session needs from its environment. The native worker and the
// browser each implement these interfaces; tests simulate them. All calls and callbacks are on the
// session's one thread; no callback runs inside the call that asked for it. Callbacks may run after
// the session is destroyed: the session guards them itself.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "common/base/bytes.h"
#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/manifest/split.h"
#include "engine/exec/executor.h"

namespace weft::worker {

struct SocketEvents {
  std::function<void()> open;
  std::function<void(std::string text)> text;
  std::function<void(ByteVector bytes)> binary;
  std::function<void(std::string reason)>
      closed;  // The socket is closed, or never opened; no other event follows.
};

class Host {
 public:
  virtual ~Host() = default;

  // Opens a WebSocket to the coordinator's /v1/worker. A new socket replaces the one before it.
  virtual void connect(SocketEvents events) = 0;
  virtual void send_text(std::string text) = 0;
  virtual void send_binary(ByteVector bytes) = 0;
  virtual void close() = 0;  // Sends the queued messages first. No event follows.

  // GET and PUT /v1/blobs/{hash}. `token` is the session's token. Fails with resource_exhausted for
  // more than `bytes_max` bytes, and with unavailable for a temporary refusal (429, 503); the error
  // says after which time to ask again.
  virtual void fetch_blob(const Hash& hash, std::uint64_t bytes_max, std::string token,
                          std::function<void(Result<ByteVector>)> done) = 0;
  virtual void put_blob(const Hash& hash, ByteVector bytes, std::string token,
                        std::function<void(Result<>)> done) = 0;

  virtual void after(Duration delay, std::function<void()> work) = 0;
  [[nodiscard]] virtual Instant now() = 0;
  [[nodiscard]] virtual double random() = 0;  // A random number in [0, 1), for jitter.
};

struct TaskRun {
  std::shared_ptr<const exec::Job> job;
  exec::RunOptions options;
  Duration wall_max{};
  // A name that is unique to the client whose code runs. Runners keep clients apart by it.
  std::string client{};
};

// Runs one task at a time: in a sandboxed child natively, on the Worker's own device in a browser.
class TaskRunner {
 public:
  virtual ~TaskRunner() = default;
  virtual void run(TaskRun task, std::function<void(Result<exec::Output>)> done) = 0;
  // Ends the running task as soon as possible; its `done` is then called with cancelled.
  virtual void cancel() = 0;
};

}  // namespace weft::worker
