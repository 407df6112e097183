// A Desk and real workers with real engines in one thread, with their messages encoded and decoded,
// for tests of audited answers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "common/base/test_data.h"
#include "common/crypto/keys.h"
#include "common/crypto/sha256.h"
#include "common/proof/frame_block.h"
#include "common/protocol/hops.h"
#include "decisions/billing/answers.h"
#include "decisions/inference/desk.h"
#include "engine/chat/model_text.h"
#include "engine/gguf/mapped_file.h"
#include "engine/gpu/native/instance.h"
#include "engine/gpu/run.h"
#include "engine/llm/cpu/cpu_engine.h"
#include "engine/llm/gpu/gpu_engine.h"
#include "worker/inference/paced_engine.h"
#include "worker/inference/serving.h"

namespace weft::cli::served_network {

namespace wire = protocol::serving;
using inference::Desk;
using namespace std::chrono_literals;

constexpr std::uint32_t chunk_bytes = 1 << 20;
constexpr std::uint32_t answer_tokens = 70;  // Gives fingerprints after 0, 32, 64 and 70 tokens.

struct OpenModel {
  std::string path;
  std::unique_ptr<gguf::MappedFile> source;
  gguf::File file;
  llm::Model model;
};

inline std::unique_ptr<OpenModel> open_model(const std::string& name) {
  const auto path = weft::test::find_data("models/" + name + ".gguf");
  if (!path) return nullptr;
  auto out = std::make_unique<OpenModel>();
  out->path = path->string();
  out->source = std::move(*gguf::MappedFile::open(out->path));
  out->file = std::move(*gguf::read_file(*out->source));
  out->model = std::move(*llm::read_model(out->file));
  return out;
}

class Network;

struct WorkerKind {
  bool gpu = false;
  bool root = false;                   // A root, whose audits weigh answers.
  bool commits = true;                 // Sends commitments to the frames of its chains.
  const OpenModel* instead = nullptr;  // The model that a cheating worker really runs.
  // Changes a question before the worker answers it; audits stay unchanged.
  std::function<void(wire::Ask&)> changes{};
  // `tells` changes the worker's report of its frames, which is signed afterwards; `shows` changes
  // the frames that it presents.
  std::function<void(wire::Frames&)> tells{};
  std::function<void(proof::FrameOpening&)> shows{};
};

class TestHost final : public worker::ServingHost {
 public:
  TestHost(Network& network, std::uint64_t id, WorkerKind given)
      : kind(std::move(given)), network_(network), id_(id) {}

  void connect(worker::SocketEvents events) override;
  void send_text(std::string text) override;
  void send_binary(ByteVector bytes) override;
  void close() override;
  void fetch_blob(const Hash&, std::uint64_t, std::string,
                  std::function<void(Result<ByteVector>)> done) override;
  void put_blob(const Hash&, ByteVector, std::string, std::function<void(Result<>)>) override {
    ADD_FAILURE() << "Serving puts nothing.";
  }
  void after(Duration delay, std::function<void()> work) override;
  Instant now() override;
  double random() override { return 0.5; }
  void fetch_range(const Hash&, std::uint64_t first, std::uint64_t count, std::string,
                   std::function<void(Result<ByteVector>)> done) override;
  void read_chunk(const worker::ModelFile&, std::uint32_t,
                  std::function<void(std::optional<ByteVector>)> done) override;
  void write_chunk(const worker::ModelFile&, std::uint32_t, ByteVector,
                   std::function<void(Result<>)> done) override;
  Result<std::unique_ptr<gguf::Source>> open_file(const worker::ModelFile&) override;
  Async<Result<std::unique_ptr<llm::Engine>>> create_engine(const llm::Model& model,
                                                            const gguf::Source& source,
                                                            llm::EngineOptions options) override;

  worker::SocketEvents events;
  WorkerKind kind;

 private:
  Async<> turn();
  protocol::serving::HopJoiner shown_;
  Network& network_;
  const std::uint64_t id_;
};

class Network final : public inference::DeskWorld {
 public:
  explicit Network(const OpenModel& served, std::uint32_t shards = 1,
                   const std::string& activations = "f32")
      : served_(served), desk_(*this, patient(activations)), rounded_(activations != "f32") {
    const std::string bytes = weft::test::read_bytes(served.path);
    file_.assign(bytes.begin(), bytes.end());
    for (std::size_t at = 0; at < file_.size(); at += chunk_bytes)
      append(digests_,
             crypto::sha256(
                 ByteSpan(file_).subspan(at, std::min<std::size_t>(chunk_bytes, file_.size() - at)))
                 .span());
    const llm::Config& config = served.model.config;
    desk_.put_model({.name = "m",
                     .file = crypto::sha256(file_).text(),
                     .chunks = crypto::sha256(digests_).text(),
                     .bytes = file_.size(),
                     .header_bytes = served.file.data_offset,
                     .chunk_bytes = chunk_bytes,
                     .architecture = config.architecture,
                     .layers = config.layers,
                     .embedding = config.embedding,
                     .vocabulary = config.vocabulary,
                     .context = 512,
                     .layer_bytes = file_.size() / config.layers,
                     .first_bytes = 1,
                     .last_bytes = 1,
                     .cache_bytes = 1,
                     .shards_min = shards,
                     .owner = {},
                     .weights = store::WeightWidth::wide},
                    now());
  }
  ~Network() override { workers_.clear(); }

  static PublicKey key_of(std::uint64_t id) {
    PublicKey key;
    key.bytes[0] = static_cast<std::uint8_t>(id);
    return key;
  }
  std::uint64_t join(WorkerKind kind = {}) {
    // Opens the device here, because two workers may ask for it at a time.
    if (kind.gpu && device_ == nullptr) {
      start<Result<std::unique_ptr<gpu::Device>>>(
          instance_->create_device({.label = "audit", .trusted_shaders = true}, {}),
          [this](Result<std::unique_ptr<gpu::Device>> made) {
            ASSERT_TRUE(made.has_value()) << made.error().message;
            device_ = std::move(*made);
          });
      until([&] { return device_ != nullptr; }, "a device");
    }
    const std::uint64_t id = ++ids_;
    auto& worker = workers_[id];
    worker.host = std::make_unique<TestHost>(*this, id, kind);
    worker::Serving::Options options{.memory_bytes = std::uint64_t{1} << 34, .gb_per_s = 10.0};
    if (kind.commits) options.signer = &worker.key;
    worker.serving = std::make_unique<worker::Serving>(*worker.host, std::move(options));
    worker.serving->join("token");
    return id;
  }
  void until(const std::function<bool()>& test, const char* what) {
    const Instant give_up = now() + 120s;
    while (!test()) {
      ASSERT_LT(now(), give_up) << what;
      step();
    }
  }
  void until_serving(std::size_t holders) {
    until(
        [&] {
          return desk_.models()[0].state == inference::ModelState::ready && loaded_ >= holders;
        },
        "all have loaded");
  }
  const inference::AnswerEnd& ask(const std::function<void(wire::Ask&)>& with = {}) {
    ended_.reset();
    inference::AnswerRequest request{.id = ++requests_, .model = "m", .ask = {}};
    request.ask.prompt =
        chat::ModelText::create(served_.file.metadata)
            .value()
            ->prompt({.chat = false, .text = "KING RICHARD III:\nNow is the winter of"})
            .value();
    request.ask.tokens_max = answer_tokens;
    request.ask.prints = true;
    if (with) with(request.ask);
    asked_ = request.ask;
    EXPECT_TRUE(desk_.ask(std::move(request), now()).has_value());
    until([&] { return ended_.has_value(); }, "an answer");
    EXPECT_NE(ended_->reason, "failed") << ended_->error.message;
    EXPECT_TRUE(billing::prints_complete(
        ended_->prints, static_cast<std::uint32_t>(ended_->answered.size()), true));
    return *ended_;
  }
  billing::AuditReading audit(const inference::AnswerEnd& end) {
    audited_.reset();
    inference::AuditRequest request{.id = ++requests_, .model = "m", .ask = asked_, .except = {}};
    request.ask.answered = end.answered;
    request.ask.redraw = billing::audit_tolerance(rounded_, false).error_max;
    for (const auto& share : end.work) request.except.push_back(share.worker);
    desk_.audit(std::move(request), now());
    until([&] { return audited_.has_value(); }, "an audit");
    EXPECT_FALSE(audited_->error.has_value()) << audited_->error->message;
    for (const auto& share : end.work) {
      for (const PublicKey& auditor : audited_->auditors) EXPECT_NE(auditor, share.worker);
    }
    const auto reading =
        billing::read_audit(end.prints, *audited_,
                            {.tokens = static_cast<std::uint32_t>(end.answered.size()),
                             .drawn = static_cast<std::uint32_t>(end.answered.size()),
                             .complete = true},
                            served_.model.config.embedding,
                            billing::audit_tolerance(rounded_, end.exact && audited_->exact));
    std::printf("  error %.2e, missing %.3f, %zu of %u tokens doubtful: %s\n", reading.error,
                reading.missing, audited_->doubtful.size(), audited_->redrawn,
                reading.reason.empty() ? "agrees" : reading.reason.c_str());
    EXPECT_EQ(audited_->redrawn, end.answered.size());
    EXPECT_NE(reading.verdict, billing::AnswerVerdict::unheard) << reading.reason;
    return reading;
  }

  // Lets two workers that are not members of the chain search for the fault, as roots do.
  const inference::TraceEnd& trace(const inference::AnswerEnd& end) {
    traced_.reset();
    EXPECT_TRUE(end.pipeline.has_value()) << "its members committed to nothing";
    if (!end.pipeline) return traced_.emplace();
    inference::TraceRequest request{.id = ++requests_, .model = "m", .ask = asked_};
    request.ask.answered = end.answered;
    request.pipeline = *end.pipeline;
    request.prints = end.prints;
    request.error_max = billing::audit_tolerance(rounded_, false).error_max;
    for (const auto& share : end.work) request.except.push_back(share.worker);
    desk_.trace(std::move(request), now());
    until([&] { return traced_.has_value(); }, "a search");
    std::printf("  %u stages computed again, right ones %.1e off\n", traced_->stages,
                traced_->farthest);
    for (const auto& finding : traced_->findings) {
      std::printf("  %s\n", finding.why.c_str());
      EXPECT_FALSE(std::ranges::contains(end.work, finding.auditor, &inference::WorkShare::worker));
    }
    return *traced_;
  }
  // The session of the member with this number in its chain.
  [[nodiscard]] std::uint64_t member(const inference::AnswerEnd& end, std::size_t index) const {
    for (std::uint64_t id = 1; id <= ids_; ++id) {
      if (end.pipeline && key_of(id) == end.pipeline->stages.at(index).worker) return id;
    }
    return 0;
  }
  void set_kind(std::uint64_t id, const std::function<void(WorkerKind&)>& change) {
    change(workers_.at(id).host->kind);
  }
  [[nodiscard]] const crypto::KeyPair& signer_of(std::uint64_t id) { return workers_.at(id).key; }

  // --- Functions of DeskWorld.
  bool is_root(const PublicKey& key) override {
    const auto found = workers_.find(key.bytes[0]);
    return found != workers_.end() && found->second.host->kind.root;
  }
  void send(std::uint64_t session, const wire::ServingCoordinatorMessage& message) override {
    auto told = message;
    if (auto* ask = std::get_if<wire::Ask>(&told); ask != nullptr && !ask->audit) {
      if (const auto& changes = kind_of(session).changes) changes(*ask);
    }
    post([this, session, text = wire::encode(told)] {
      if (const auto found = workers_.find(session);
          found != workers_.end() && found->second.host->events.text)
        found->second.host->events.text(text);
    });
  }
  void send_hop(std::uint64_t session, ByteVector frame) override {
    post([this, session, frame = std::move(frame)] {
      workers_.at(session).host->events.binary(frame);
    });
  }
  void close(std::uint64_t session, const std::string& reason) override {
    ADD_FAILURE() << "worker " << session << " is put out: " << reason;
  }
  void tokens(std::uint32_t, const std::vector<wire::Token>&) override {}
  void ended(std::uint32_t, const inference::AnswerEnd& end) override { ended_ = end; }
  void audited(std::uint32_t, const inference::AuditEnd& end) override { audited_ = end; }
  void traced(std::uint32_t, const inference::TraceEnd& end) override { traced_ = end; }

  // Limits that a busy machine keeps: all workers share one thread with the coordinator.
  static inference::DeskSettings patient(const std::string& activations) {
    inference::DeskSettings settings{.activations = activations};
    constexpr auto long_enough = std::chrono::minutes(5);
    settings.silent_max = settings.silent_busy_max = settings.stall_max = settings.audit_max =
        long_enough;
    return settings;
  }
  [[nodiscard]] const WorkerKind& kind_of(std::uint64_t id) { return workers_.at(id).host->kind; }
  void post(std::function<void()> work) { queue_.push_back(std::move(work)); }
  void after(Duration delay, std::function<void()> work) {
    timers_.emplace(now() + delay, std::move(work));
  }

  const OpenModel& served_;
  ByteVector file_, digests_;
  Desk desk_;
  const bool rounded_;
  std::size_t loaded_ = 0;
  std::unique_ptr<gpu::PumpedInstance> instance_ = gpu::native::create_instance();
  std::unique_ptr<gpu::Device> device_;

 private:
  void step() {
    while (!queue_.empty()) {
      const auto work = std::move(queue_.front());
      queue_.pop_front();
      work();
    }
    while (!timers_.empty() && timers_.begin()->first <= now()) {
      const auto node = timers_.extract(timers_.begin());
      node.mapped()();
    }
    desk_.tick(now());
    if (queue_.empty()) (void)instance_->poll(1ms);
  }

  struct OneWorker {
    crypto::KeyPair key = crypto::KeyPair::generate().value();
    std::unique_ptr<TestHost> host;
    std::unique_ptr<worker::Serving> serving;
  };
  std::deque<std::function<void()>> queue_;
  std::multimap<Instant, std::function<void()>> timers_;
  std::map<std::uint64_t, OneWorker> workers_;
  std::uint64_t ids_ = 0;
  std::uint32_t requests_ = 0;
  wire::Ask asked_;
  std::optional<inference::AnswerEnd> ended_;
  std::optional<inference::AuditEnd> audited_;
  std::optional<inference::TraceEnd> traced_;
};

inline void TestHost::connect(worker::SocketEvents given) {
  events = std::move(given);
  network_.post([this] { events.open(); });
}
inline void TestHost::send_text(std::string text) {
  network_.post([&network = network_, id = id_, text = std::move(text)] {
    auto message = wire::decode_worker(text);
    ASSERT_TRUE(message.has_value()) << message.error().message;
    if (std::holds_alternative<wire::Loaded>(*message)) ++network.loaded_;
    if (const auto* offer = std::get_if<wire::Offer>(&*message))
      return network.desk_.join(id, Network::key_of(id), *offer, weft::now());
    if (auto* const frames = std::get_if<wire::Frames>(&*message);
        frames != nullptr && network.kind_of(id).tells) {
      network.kind_of(id).tells(*frames);
      frames->signature =
          network.signer_of(id).sign_now(proof::frame_block_digest({.chain = frames->chain,
                                                                    .epoch = frames->epoch,
                                                                    .line = frames->line,
                                                                    .first = frames->first,
                                                                    .count = frames->count,
                                                                    .root = frames->root}));
    }
    network.desk_.hear(id, *message, weft::now());
  });
}
inline void TestHost::send_binary(ByteVector bytes) {
  if (const auto hop = wire::decode_hop(bytes);
      hop && hop->to == wire::hop_to_coordinator && kind.shows) {
    const auto whole = shown_.take(*hop);
    if (!whole || !*whole) return;
    auto opening = proof::decode_frame_opening(**whole).value();
    kind.shows(opening);
    wire::cut_hops(hop->chain, hop->epoch, hop->from, hop->to, proof::encode(opening),
                   [&](const ByteVector& frame) {
                     network_.post([&network = network_, id = id_, frame] {
                       network.desk_.hop(id, frame, weft::now());
                     });
                   });
    return;
  }
  network_.post([&network = network_, id = id_, bytes = std::move(bytes)] {
    network.desk_.hop(id, bytes, weft::now());
  });
}
inline void TestHost::close() { events = {}; }
inline void TestHost::fetch_blob(const Hash&, std::uint64_t, std::string,
                                 std::function<void(Result<ByteVector>)> done) {
  network_.post([&network = network_, done = std::move(done)] { done(network.digests_); });
}
inline void TestHost::after(Duration delay, std::function<void()> work) {
  network_.after(delay, std::move(work));
}
inline Instant TestHost::now() { return weft::now(); }
inline void TestHost::fetch_range(const Hash&, std::uint64_t first, std::uint64_t count,
                                  std::string, std::function<void(Result<ByteVector>)> done) {
  network_.post([&network = network_, first, count, done = std::move(done)] {
    const auto from = network.file_.begin() + static_cast<std::ptrdiff_t>(first);
    done(ByteVector(from, from + static_cast<std::ptrdiff_t>(count)));
  });
}
inline void TestHost::read_chunk(const worker::ModelFile&, std::uint32_t,
                                 std::function<void(std::optional<ByteVector>)> done) {
  network_.post([done = std::move(done)] { done(std::nullopt); });
}
inline void TestHost::write_chunk(const worker::ModelFile&, std::uint32_t, ByteVector,
                                  std::function<void(Result<>)> done) {
  network_.post([done = std::move(done)] { done({}); });
}
inline Result<std::unique_ptr<gguf::Source>> TestHost::open_file(const worker::ModelFile&) {
  WEFT_ASSIGN(auto file, gguf::MappedFile::open(network_.served_.path));
  return std::unique_ptr<gguf::Source>(std::move(file));
}
inline Async<> TestHost::turn() {
  const Pending<bool> come;
  network_.post([come] { come.set(true); });
  (void)co_await come;
}
inline Async<Result<std::unique_ptr<llm::Engine>>> TestHost::create_engine(
    const llm::Model& model, const gguf::Source& source, llm::EngineOptions options) {
  const llm::Model& run = kind.instead == nullptr ? model : kind.instead->model;
  const gguf::Source& from = kind.instead == nullptr ? source : *kind.instead->source;
  if (!kind.gpu) {
    WEFT_CO_ASSIGN(auto engine, llm::create_cpu_engine(run, from, options, 1));
    co_return worker::make_paced(std::move(engine), {.before = [this] { return turn(); }});
  }
  WEFT_CO_ASSIGN(auto engine,
                 co_await llm::create_gpu_engine(*network_.device_, run, from, options));
  co_return std::move(engine);
}

}  // namespace weft::cli::served_network
