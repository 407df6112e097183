// A network, a clock and a coordinator for the session's tests: no call waits, every event occurs
// when the test says so, and each run has the same events.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "common/crypto/keys.h"
#include "common/crypto/sha256.h"
#include "common/protocol/codec.h"
#include "common/protocol/result_frame.h"
#include "worker/tasks/host.h"

namespace weft::worker {

// Simulated time and sockets. Frames that the worker sends are passed to `on_text` and `on_binary`
// as later events.
class FakeHost final : public Host {
 public:
  void connect(SocketEvents socket_events) override {
    events_ = std::move(socket_events);
    ++connections;
    connected = false;
    later([this, generation = ++generation_] {
      if (generation != generation_) return;
      if (!reachable) return drop("no route");
      connected = true;
      events_.open();
    });
  }
  void send_text(std::string text) override {
    if (connected)
      later([this, generation = generation_, text = std::move(text)] {
        if (generation == generation_) on_text(text);
      });
  }
  void send_binary(ByteVector bytes) override {
    if (connected)
      later([this, generation = generation_, bytes = std::move(bytes)] {
        if (generation == generation_) on_binary(bytes);
      });
  }
  void close() override {
    // Messages that were sent before still arrive.
    connected = false;
    closed_by_worker = true;
  }
  void fetch_blob(const Hash& hash, std::uint64_t bytes_max, std::string,
                  std::function<void(Result<ByteVector>)> done) override {
    ++fetches[hash];
    bytes_asked[hash] = bytes_max;
    later([this, hash, bytes_max, done = std::move(done)] {
      if (!blobs_reachable) return done(fail(ErrorCode::unavailable, "no route"));
      const auto blob = blobs.find(hash);
      if (blob == blobs.end())
        return done(fail(ErrorCode::not_found, "There is no blob {}.", hash.text()));
      if (blob->second.size() > bytes_max)
        return done(fail(ErrorCode::resource_exhausted, "too large"));
      done(blob->second);
    });
  }
  void put_blob(const Hash& hash, ByteVector bytes, std::string token,
                std::function<void(Result<>)> done) override {
    later([this, hash, bytes = std::move(bytes), token = std::move(token), done = std::move(done)] {
      if (!blobs_reachable) return done(fail(ErrorCode::unavailable, "no route"));
      if (token != blob_token) return done(fail(ErrorCode::unauthenticated, "old token"));
      blobs[hash] = bytes;
      done({});
    });
  }
  void after(Duration delay, std::function<void()> work) override {
    events.push({now_ + delay, ++serial_, std::move(work)});
  }
  Instant now() override { return now_; }
  double random() override { return std::uniform_real_distribution<>(0, 1)(random_); }

  // Actions of the other side of the connection.
  void deliver_text(std::string text) {
    later([this, generation = generation_, text = std::move(text)] {
      if (connected && generation == generation_) events_.text(text);
    });
  }
  void deliver_binary(ByteVector bytes) {
    later([this, generation = generation_, bytes = std::move(bytes)] {
      if (connected && generation == generation_) events_.binary(bytes);
    });
  }
  void drop(const std::string& reason) {
    connected = false;
    ++generation_;
    if (events_.closed)
      later([closed = std::exchange(events_.closed, {}), reason] { closed(reason); });
  }

  // Runs the events that are due within `span`, in order.
  void run_for(Duration span) {
    const Instant end = now_ + span;
    while (!events.empty() && events.top().at <= end) step();
    now_ = end;
  }
  // Runs events until `done` is true. Returns false if an hour has passed or no event is left.
  bool run_until(const std::function<bool()>& done) {
    const Instant end = now_ + std::chrono::hours(1);
    while (!done()) {
      if (events.empty() || events.top().at > end) return false;
      step();
    }
    return true;
  }
  void later(std::function<void()> work) { after(std::chrono::milliseconds(1), std::move(work)); }
  Hash add_blob(ByteVector bytes) {
    const Hash hash = crypto::sha256(bytes);
    blobs[hash] = std::move(bytes);
    return hash;
  }

  std::function<void(const std::string&)> on_text = [](const auto&) {};
  std::function<void(const ByteVector&)> on_binary = [](const auto&) {};
  std::map<Hash, ByteVector> blobs;
  std::map<Hash, int> fetches;
  std::map<Hash, std::uint64_t> bytes_asked;  // The bound of bytes in the last fetch.
  std::string blob_token = "token";
  bool reachable = true;
  bool blobs_reachable = true;
  bool connected = false;
  bool closed_by_worker = false;
  int connections = 0;

 private:
  struct Event {
    Instant at;
    std::uint64_t serial;
    std::function<void()> work;
    bool operator<(const Event& other) const {
      return std::tie(other.at, other.serial) < std::tie(at, serial);
    }
  };
  void step() {
    const Event event = events.top();
    events.pop();
    now_ = std::max(now_, event.at);
    event.work();
  }

  std::priority_queue<Event> events;
  Instant now_{};
  std::uint64_t serial_ = 0;
  std::uint64_t generation_ = 0;
  SocketEvents events_;
  std::mt19937 random_{5};
};

// Answers after `takes` with bytes that depend on the range alone.
class FakeRunner final : public TaskRunner {
 public:
  explicit FakeRunner(FakeHost& host) : host_(host) {}
  void run(TaskRun task, std::function<void(Result<exec::Output>)> done) override {
    done_ = std::move(done);
    runs.push_back(task);
    host_.after(takes, [this, serial = ++serial_, range = task.options.range] {
      if (serial != serial_ || !done_) return;
      if (error) return std::exchange(done_, {})(std::unexpected(*error));
      std::exchange(done_, {})(exec::Output{
          .outputs = outputs(range), .gpu_seconds = 0.01, .wall_seconds = 0.02, .dispatches = 1});
    });
  }
  void cancel() override {
    ++cancels;
    host_.later([this, serial = serial_] {
      if (serial == serial_ && done_)
        std::exchange(done_, {})(fail(ErrorCode::cancelled, "The task was cancelled."));
    });
  }
  [[nodiscard]] std::vector<ByteVector> outputs(manifest::Range range) const {
    return {ByteVector(std::size_t{4} * range.count,
                       output.value_or(static_cast<std::uint8_t>(range.first))),
            ByteVector(large_bytes, static_cast<std::uint8_t>(range.first + 1))};
  }

  Duration takes = std::chrono::milliseconds(10);
  std::size_t large_bytes = 0;
  std::optional<std::uint8_t> output;  // The value of each byte, for every range.
  std::optional<Error> error;
  std::vector<TaskRun> runs;
  int cancels = 0;

 private:
  FakeHost& host_;
  std::function<void(Result<exec::Output>)> done_;
  std::uint64_t serial_ = 0;
};

}  // namespace weft::worker
