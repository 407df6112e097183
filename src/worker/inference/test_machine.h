// A simulated machine for the tests of serving: a clock, a connection to a coordinator that the
// test plays, blobs that arrive when the test lets them, and a store of chunks. The engines are
// real ones on the CPU, and take the time that the test sets.
#pragma once

#include <algorithm>
#include <map>
#include <queue>
#include <set>
#include <string>
#include <vector>

#include "common/crypto/sha256.h"
#include "common/protocol/serving.h"
#include "engine/llm/cpu/cpu_engine.h"
#include "worker/inference/paced_engine.h"
#include "worker/inference/serving_host.h"

namespace weft::worker {

// The events of all machines by time. Work that takes time delays the events that become due
// meanwhile, as on one thread.
class SimulatedTime {
 public:
  void after(Duration delay, std::function<void()> work) {
    events_.push({now_ + delay, ++serial_, std::move(work)});
  }
  [[nodiscard]] Instant now() const { return now_; }
  void spend(Duration duration) { now_ += duration; }
  // Runs events until `done` is true. Returns false if `done` is not true within an hour, or if no
  // event is left.
  bool run_until(const std::function<bool()>& done) {
    const Instant end = now_ + std::chrono::hours(1);
    while (!done()) {
      if (events_.empty() || events_.top().at > end) return false;
      step();
    }
    return true;
  }
  void run_for(Duration span) {
    const Instant end = now_ + span;
    while (!events_.empty() && events_.top().at <= end) step();
    now_ = std::max(now_, end);
  }

 private:
  struct Event {
    Instant at;
    std::uint64_t serial;
    std::function<void()> work;
    bool operator<(const Event& other) const {
      return std::pair(at, serial) > std::pair(other.at, other.serial);
    }
  };
  void step() {
    const Event event = events_.top();
    events_.pop();
    now_ = std::max(now_, event.at);
    event.work();
  }

  Instant now_{};
  std::uint64_t serial_ = 0;
  std::priority_queue<Event> events_;
};

// An engine that takes a set time for each position.
class SlowEngine final : public llm::Engine {
 public:
  SlowEngine(std::unique_ptr<llm::Engine> engine, SimulatedTime& time, Duration row)
      : engine_(std::move(engine)), time_(time), row_(row) {}

  const llm::Config& config() const override { return engine_->config(); }
  const llm::EngineOptions& options() const override { return engine_->options(); }
  std::string device() const override { return engine_->device(); }
  llm::EngineCounters counters() const override { return engine_->counters(); }
  Result<llm::SequenceId> open() override { return engine_->open(); }
  void close(llm::SequenceId id) override { engine_->close(id); }
  std::uint32_t length(llm::SequenceId id) const override { return engine_->length(id); }
  std::uint32_t rewind(llm::SequenceId id, std::uint32_t length) override {
    return engine_->rewind(id, length);
  }
  std::uint32_t drawn_ahead(llm::SequenceId id) const override { return engine_->drawn_ahead(id); }
  bool keeps_hidden() const override { return engine_->keeps_hidden(); }
  void keep_hidden(llm::SequenceId id, std::uint32_t from, std::uint32_t every) override {
    engine_->keep_hidden(id, from, every);
  }
  std::optional<std::vector<float>> take_hidden(llm::SequenceId id, std::uint32_t length) override {
    return engine_->take_hidden(id, length);
  }
  Result<> reserve(llm::SequenceId id, std::uint32_t positions) override {
    return engine_->reserve(id, positions);
  }
  std::uint32_t share(llm::SequenceId from, llm::SequenceId to, std::uint32_t length) override {
    return engine_->share(from, to, length);
  }
  void set_sampling(llm::SequenceId id, const llm::Sampling& sampling) override {
    engine_->set_sampling(id, sampling);
  }
  Async<Result<>> append(llm::SequenceId id, std::vector<llm::Token> tokens) override {
    time_.spend(row_ * tokens.size());
    co_return co_await engine_->append(id, std::move(tokens));
  }
  Async<Result<std::vector<float>>> logits(llm::SequenceId id) override {
    return engine_->logits(id);
  }
  Async<Result<std::vector<float>>> last_hidden(llm::SequenceId id) override {
    return engine_->last_hidden(id);
  }
  Async<Result<std::vector<llm::Drawn>>> draw(std::vector<llm::SequenceId> ids,
                                              std::uint32_t more) override {
    time_.spend(row_ * ids.size());
    co_return co_await engine_->draw(std::move(ids), more);
  }
  Async<Result<std::vector<float>>> forward(llm::SequenceId id,
                                            std::vector<float> hidden) override {
    time_.spend(row_ * (hidden.size() / config().embedding));
    co_return co_await engine_->forward(id, std::move(hidden));
  }
  Async<Result<std::vector<float>>> forward_tokens(llm::SequenceId id,
                                                   std::vector<llm::Token> tokens) override {
    time_.spend(row_ * tokens.size());
    co_return co_await engine_->forward_tokens(id, std::move(tokens));
  }

 private:
  const std::unique_ptr<llm::Engine> engine_;
  SimulatedTime& time_;
  const Duration row_;
};

class SimulatedMachine final : public ServingHost {
 public:
  using Message = protocol::serving::ServingWorkerMessage;

  explicit SimulatedMachine(SimulatedTime& time) : time_(time) {}

  // --- The coordinator's side.
  std::map<Hash, ByteVector>* blobs = nullptr;
  // Messages of the worker with their arrival times.
  std::vector<std::pair<Instant, Message>> heard;
  std::function<void(const ByteVector& frame)> on_hop;  // Called with binary frames.
  void deliver(const protocol::serving::ServingCoordinatorMessage& message) {
    later([this, text = protocol::serving::encode(message), line = line_] {
      if (line == line_) events_.text(text);
    });
  }
  void deliver(ByteVector frame) {
    later([this, frame = std::move(frame), line = line_] {
      if (line == line_) events_.binary(frame);
    });
  }
  void cut() {
    const auto closed = events_.closed;
    ++line_;
    later([closed] { closed("cut"); });
  }
  template <class M>
  [[nodiscard]] std::vector<M> all() const {
    std::vector<M> out;
    for (const auto& [at, message] : heard) {
      if (const auto* one = std::get_if<M>(&message)) out.push_back(*one);
    }
    return out;
  }

  // --- Settings that a test may change.
  std::size_t fetches_left = ~std::size_t{0};  // Fetches until the coordinator is out of reach.
  int refusals = 0;                            // Number of blobs and ranges that are refused first.
  std::set<std::uint64_t> corrupt;             // The offsets of ranges that arrive damaged.
  Duration row = std::chrono::milliseconds(1);  // Time of the engine for a position.
  bool paced = true;
  // --- Observations that a test reads.
  std::multiset<std::uint64_t> fetched;  // The offsets of fetched ranges.
  std::size_t under_way = 0, under_way_most = 0;
  std::size_t engines = 0;
  std::map<std::uint32_t, ByteVector> kept;

  // --- Functions of ServingHost.
  void connect(SocketEvents events) override {
    events_ = std::move(events);
    later([this, line = ++line_] {
      if (line == line_) events_.open();
    });
  }
  void send_text(std::string text) override {
    later([this, text = std::move(text), line = line_] {
      if (line == line_)
        heard.emplace_back(time_.now(), protocol::serving::decode_worker(text).value());
    });
  }
  void send_binary(ByteVector bytes) override {
    later([this, bytes = std::move(bytes)] {
      if (on_hop) on_hop(bytes);
    });
  }
  void close() override { ++line_; }
  void fetch_blob(const Hash& hash, std::uint64_t, std::string,
                  std::function<void(Result<ByteVector>)> done) override {
    later([this, hash, done = std::move(done)] {
      if (blobs_refused_++ < refusals) return done(fail(ErrorCode::unavailable, "too many"));
      done(blobs->at(hash));
    });
  }
  void put_blob(const Hash&, ByteVector, std::string, std::function<void(Result<>)>) override {}
  void after(Duration delay, std::function<void()> work) override {
    time_.after(delay, std::move(work));
  }
  [[nodiscard]] Instant now() override { return time_.now(); }
  [[nodiscard]] double random() override { return 0.5; }
  void fetch_range(const Hash& blob, std::uint64_t first, std::uint64_t count, std::string,
                   std::function<void(Result<ByteVector>)> done) override {
    under_way_most = std::max(under_way_most, ++under_way);
    time_.after(std::chrono::milliseconds(20), [this, blob, first, count, done = std::move(done)] {
      --under_way;
      if (fetches_left == 0) return done(fail(ErrorCode::unavailable, "no route"));
      if (ranges_refused_++ < refusals) return done(fail(ErrorCode::unavailable, "too many"));
      --fetches_left;
      fetched.insert(first);
      const ByteVector& all = blobs->at(blob);
      ByteVector part(all.begin() + static_cast<std::ptrdiff_t>(first),
                      all.begin() + static_cast<std::ptrdiff_t>(first + count));
      if (corrupt.contains(first)) part[0] ^= 1;
      done(std::move(part));
    });
  }
  void read_chunk(const ModelFile&, std::uint32_t chunk,
                  std::function<void(std::optional<ByteVector>)> done) override {
    later([this, chunk, done = std::move(done)] {
      const auto found = kept.find(chunk);
      done(found == kept.end() ? std::nullopt : std::optional(found->second));
    });
  }
  void write_chunk(const ModelFile&, std::uint32_t chunk, ByteVector bytes,
                   std::function<void(Result<>)> done) override {
    kept[chunk] = std::move(bytes);
    later([done = std::move(done)] { done({}); });
  }
  [[nodiscard]] Result<std::unique_ptr<gguf::Source>> open_file(const ModelFile& file) override {
    return std::make_unique<KeptFile>(kept, file);
  }
  [[nodiscard]] Async<Result<std::unique_ptr<llm::Engine>>> create_engine(
      const llm::Model& model, const gguf::Source& source, llm::EngineOptions options) override {
    ++engines;
    WEFT_CO_ASSIGN(auto engine, llm::create_cpu_engine(model, source, options, 1));
    auto slow = std::make_unique<SlowEngine>(std::move(engine), time_, row);
    co_return paced ? make_paced(std::move(slow), {.before = [this] { return turn(); },
                                                   .now = [this] { return now(); }})
                    : make_paced(std::move(slow), {.before = [this] { return turn(); }});
  }

 private:
  // The stored chunks as a file. A read of any other chunk is an error of the reader.
  class KeptFile final : public gguf::Source {
   public:
    KeptFile(const std::map<std::uint32_t, ByteVector>& kept, const ModelFile& file)
        : kept_(kept), file_(file) {}
    [[nodiscard]] std::uint64_t bytes() const override { return file_.bytes; }
    [[nodiscard]] std::optional<ByteSpan> view(std::uint64_t, std::uint64_t) const override {
      return std::nullopt;
    }
    [[nodiscard]] Result<> read(std::uint64_t offset, std::span<std::uint8_t> out) const override {
      for (std::uint8_t& byte : out) {
        const auto chunk = kept_.find(static_cast<std::uint32_t>(offset / file_.chunk_bytes));
        if (chunk == kept_.end()) return fail(ErrorCode::data_loss, "Byte {} is not here.", offset);
        byte = chunk->second.at(offset++ % file_.chunk_bytes);
      }
      return {};
    }

   private:
    const std::map<std::uint32_t, ByteVector>& kept_;
    const ModelFile file_;
  };

  void later(std::function<void()> work) {
    time_.after(std::chrono::milliseconds(1), std::move(work));
  }
  Async<> turn() {
    const Pending<bool> come;
    time_.after(Duration::zero(), [come] { come.set(true); });
    (void)co_await come;
  }

  SimulatedTime& time_;
  SocketEvents events_;
  std::uint64_t line_ = 0;
  int blobs_refused_ = 0, ranges_refused_ = 0;
};

}  // namespace weft::worker
