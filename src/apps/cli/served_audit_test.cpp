// Answers of real models, audited: the desk and real workers with real engines, their messages
// encoded and decoded, in one thread. What honest workers hand in is confirmed by others, whatever
// they run on, alone or in chains; and a worker that serves smaller weights than it promised is
// found out.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "common/base/test_data.h"
#include "common/crypto/sha256.h"
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

namespace weft::cli {
namespace {

namespace wire = protocol::serving;
using inference::Desk;
using namespace std::chrono_literals;

constexpr std::uint32_t chunk_bytes = 1 << 20;
constexpr std::uint32_t answer_tokens = 70;  // Fingerprints behind 0, 32, 64 and 70.

struct OpenModel {
  std::string path;
  std::unique_ptr<gguf::MappedFile> source;
  gguf::File file;
  llm::Model model;
};

std::unique_ptr<OpenModel> open_model(const std::string& name) {
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
  const OpenModel* instead = nullptr;  // What it runs, whatever it was told to.
  // What it does with a question before it answers; audits are left as they are.
  std::function<void(wire::Ask&)> changes{};
};

class TestHost final : public worker::ServingHost {
 public:
  TestHost(Network& network, std::uint64_t id, WorkerKind kind)
      : network_(network), id_(id), kind_(kind) {}

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

 private:
  Async<> turn();
  Network& network_;
  const std::uint64_t id_;
  const WorkerKind kind_;
};

class Network final : public inference::DeskWorld {
 public:
  explicit Network(const OpenModel& served, std::uint32_t shards = 1,
                   const std::string& activations = "f32")
      : served_(served),
        desk_(*this, {.activations = activations}),
        rounded_(activations != "f32") {
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
                     .owner = {}},
                    now());
  }
  ~Network() override { workers_.clear(); }

  static PublicKey key_of(std::uint64_t id) {
    PublicKey key;
    key.bytes[0] = static_cast<std::uint8_t>(id);
    return key;
  }
  std::uint64_t join(WorkerKind kind = {}) {
    const std::uint64_t id = ++ids_;
    auto& worker = workers_[id];
    worker.kind = kind;
    worker.host = std::make_unique<TestHost>(*this, id, kind);
    worker.serving = std::make_unique<worker::Serving>(
        *worker.host,
        worker::Serving::Options{.memory_bytes = std::uint64_t{1} << 34, .gb_per_s = 10.0});
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
    until([&] { return desk_.models()[0].state == "ready" && loaded_ >= holders; },
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

  // --- DeskWorld
  void send(std::uint64_t session, const wire::ServingCoordinatorMessage& message) override {
    auto told = message;
    if (auto* ask = std::get_if<wire::Ask>(&told); ask != nullptr && !ask->audit) {
      if (const auto& changes = workers_.at(session).kind.changes) changes(*ask);
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
    WorkerKind kind{};
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
};

void TestHost::connect(worker::SocketEvents given) {
  events = std::move(given);
  network_.post([this] { events.open(); });
}
void TestHost::send_text(std::string text) {
  network_.post([&network = network_, id = id_, text = std::move(text)] {
    const auto message = wire::decode_worker(text);
    ASSERT_TRUE(message.has_value()) << message.error().message;
    if (std::holds_alternative<wire::Loaded>(*message)) ++network.loaded_;
    if (const auto* offer = std::get_if<wire::Offer>(&*message))
      return network.desk_.join(id, Network::key_of(id), *offer, weft::now());
    network.desk_.hear(id, *message, weft::now());
  });
}
void TestHost::send_binary(ByteVector bytes) {
  network_.post([&network = network_, id = id_, bytes = std::move(bytes)] {
    network.desk_.hop(id, bytes, weft::now());
  });
}
void TestHost::close() { events = {}; }
void TestHost::fetch_blob(const Hash&, std::uint64_t, std::string,
                          std::function<void(Result<ByteVector>)> done) {
  network_.post([&network = network_, done = std::move(done)] { done(network.digests_); });
}
void TestHost::after(Duration delay, std::function<void()> work) {
  network_.after(delay, std::move(work));
}
Instant TestHost::now() { return weft::now(); }
void TestHost::fetch_range(const Hash&, std::uint64_t first, std::uint64_t count, std::string,
                           std::function<void(Result<ByteVector>)> done) {
  network_.post([&network = network_, first, count, done = std::move(done)] {
    const auto from = network.file_.begin() + static_cast<std::ptrdiff_t>(first);
    done(ByteVector(from, from + static_cast<std::ptrdiff_t>(count)));
  });
}
void TestHost::read_chunk(const worker::ModelFile&, std::uint32_t,
                          std::function<void(std::optional<ByteVector>)> done) {
  network_.post([done = std::move(done)] { done(std::nullopt); });
}
void TestHost::write_chunk(const worker::ModelFile&, std::uint32_t, ByteVector,
                           std::function<void(Result<>)> done) {
  network_.post([done = std::move(done)] { done({}); });
}
Result<std::unique_ptr<gguf::Source>> TestHost::open_file(const worker::ModelFile&) {
  WEFT_ASSIGN(auto file, gguf::MappedFile::open(network_.served_.path));
  return std::unique_ptr<gguf::Source>(std::move(file));
}
Async<> TestHost::turn() {
  const Pending<bool> come;
  network_.post([come] { come.set(true); });
  (void)co_await come;
}
Async<Result<std::unique_ptr<llm::Engine>>> TestHost::create_engine(const llm::Model& model,
                                                                    const gguf::Source& source,
                                                                    llm::EngineOptions options) {
  const llm::Model& run = kind_.instead == nullptr ? model : kind_.instead->model;
  const gguf::Source& from = kind_.instead == nullptr ? source : *kind_.instead->source;
  if (!kind_.gpu) {
    WEFT_CO_ASSIGN(auto engine, llm::create_cpu_engine(run, from, options, 1));
    co_return worker::make_paced(std::move(engine), {.before = [this] { return turn(); }});
  }
  if (network_.device_ == nullptr) {
    WEFT_CO_ASSIGN(network_.device_, co_await network_.instance_->create_device(
                                         {.label = "audit", .trusted_shaders = true}, {}));
  }
  WEFT_CO_ASSIGN(auto engine,
                 co_await llm::create_gpu_engine(*network_.device_, run, from, options));
  co_return std::move(engine);
}

class ServedAudits : public testing::Test {
 protected:
  std::unique_ptr<OpenModel> f16 = open_model("tiny-llama-chat-f16");
  void SetUp() override {
    if (!f16) GTEST_SKIP() << weft::test::missing_data("models/tiny-llama-chat-f16.gguf");
  }
};

TEST_F(ServedAudits, WhatAProcessorAnswersAGpuConfirms) {
  Network network(*f16);
  network.join();
  network.until_serving(1);
  network.join({.gpu = true});
  network.until_serving(2);
  const auto end = network.ask();

  EXPECT_EQ(network.audit(end).verdict, billing::AnswerVerdict::agrees);
  EXPECT_EQ(end.work.size(), 1U);
  const std::uint64_t layers = f16->model.config.layers;
  EXPECT_EQ(end.work[0].work, (end.prompt_tokens + answer_tokens) * layers);
}

TEST_F(ServedAudits, WhatAGpuAnswersAProcessorConfirms) {
  Network network(*f16);
  network.join({.gpu = true});
  network.until_serving(1);
  network.join();
  network.until_serving(2);

  EXPECT_EQ(network.audit(network.ask()).verdict, billing::AnswerVerdict::agrees);
  EXPECT_EQ(network.audit(network.ask()).verdict, billing::AnswerVerdict::agrees)
      << "with the prompt read before";
}

TEST_F(ServedAudits, WhatAChainAnswersIsConfirmedByOneWorkerAndSharedByLayers) {
  Network network(*f16, 2);
  network.join();
  network.join();
  network.until_serving(2);
  const auto end = network.ask();
  network.join();
  network.until([&] { return network.desk_.workers().size() == 3; }, "the third has joined");

  EXPECT_EQ(network.audit(end).verdict, billing::AnswerVerdict::agrees);
  ASSERT_EQ(end.work.size(), 2U);
  EXPECT_EQ(end.work[0].work + end.work[1].work,
            std::uint64_t{end.prompt_tokens + answer_tokens} * f16->model.config.layers);
}

struct Cheat {
  bool gpu;
  const char* activations;
};
class ServedCheats : public ServedAudits, public testing::WithParamInterface<Cheat> {};

TEST_P(ServedCheats, ThatServeSmallerWeightsAreFoundOut) {
  const auto [gpu, activations] = GetParam();
  const auto q4 = open_model("tiny-llama-chat-q4_0");
  if (!q4) GTEST_SKIP() << weft::test::missing_data("models/tiny-llama-chat-q4_0.gguf");
  Network network(*f16, 1, activations);
  network.join({.gpu = gpu, .instead = q4.get()});
  network.until_serving(1);
  network.join({.gpu = !gpu});
  network.until_serving(2);

  const auto end = network.ask();
  EXPECT_LE(end.answered.size(), 256U);
  const auto verdict = network.audit(end);

  EXPECT_EQ(verdict.verdict, billing::AnswerVerdict::differs);
  EXPECT_GT(verdict.error, 0.02) << "far from the tolerance";
  EXPECT_EQ(verdict.doubtful, 0U) << "its fingerprints are enough";
}
// The same arithmetic with the right weights.
TEST_P(ServedCheats, ThatServeTheRightWeightsAreNone) {
  const auto [gpu, activations] = GetParam();
  Network network(*f16, 1, activations);
  network.join({.gpu = gpu});
  network.until_serving(1);
  network.join({.gpu = !gpu});
  network.until_serving(2);
  EXPECT_EQ(network.audit(network.ask()).verdict, billing::AnswerVerdict::agrees);
}
TEST_F(ServedAudits, EightBitsForSixteenAreFoundBetweenProcessors) {
  const auto q8 = open_model("tiny-llama-chat-q8_0");
  if (!q8) GTEST_SKIP() << weft::test::missing_data("models/tiny-llama-chat-q8_0.gguf");
  Network network(*f16);
  network.join({.instead = q8.get()});
  network.until_serving(1);
  network.join();
  network.until_serving(2);

  const auto end = network.ask();
  EXPECT_TRUE(end.exact);
  const auto verdict = network.audit(end);

  EXPECT_EQ(verdict.verdict, billing::AnswerVerdict::differs);
  EXPECT_GT(verdict.error, proof::f32_tolerance.error_max);
  EXPECT_LT(verdict.error, 0.01) << "near the usual tolerance, which some of them pass";
}

TEST_F(ServedAudits, HonestProcessorsAreWithinTheirTolerance) {
  Network network(*f16);
  network.join();
  network.until_serving(1);
  network.join();
  network.until_serving(2);
  const auto end = network.ask();
  EXPECT_TRUE(end.exact);
  EXPECT_EQ(network.audit(end).verdict, billing::AnswerVerdict::agrees);
}

// The workers of the tests below run the right weights, and say honestly what they computed: their
// fingerprints agree. They draw otherwise than they were asked to.
struct Drawing {
  const char* name;
  std::function<void(wire::Ask&)> ask;      // What the client asks for.
  std::function<void(wire::Ask&)> changes;  // What the worker makes of it.
};
class ServedDrawings : public ServedAudits, public testing::WithParamInterface<Drawing> {};

TEST_P(ServedDrawings, ThatAreNotTheSettingsAreFoundOut) {
  const Drawing& drawing = GetParam();
  Network network(*f16);
  network.join({.gpu = true, .changes = drawing.changes});
  network.until_serving(1);
  network.join();
  network.until_serving(2);

  const auto verdict = network.audit(network.ask(drawing.ask));

  EXPECT_EQ(verdict.verdict, billing::AnswerVerdict::differs);
  EXPECT_GE(verdict.doubtful, 2U) << verdict.reason;
  EXPECT_LT(verdict.error, 0.005);
}
TEST_P(ServedDrawings, ThatAreTheSettingsAreConfirmed) {
  Network network(*f16);
  network.join({.gpu = true});
  network.until_serving(1);
  network.join();
  network.until_serving(2);
  const auto verdict = network.audit(network.ask(GetParam().ask));
  EXPECT_EQ(verdict.verdict, billing::AnswerVerdict::agrees) << verdict.reason;
}
const std::string grammar_of_letters = R"(root ::= [a-m ]+)";
INSTANTIATE_TEST_SUITE_P(
    Settings, ServedDrawings,
    testing::Values(
        Drawing{"greedy",
                {},
                [](wire::Ask& ask) {
                  ask.temperature = 0.6;
                  ask.seed = 1;
                }},
        Drawing{"seed",
                [](wire::Ask& ask) {
                  ask.temperature = 1;
                  ask.seed = 7;
                },
                [](wire::Ask& ask) { ask.seed = 8; }},
        Drawing{"colder",
                [](wire::Ask& ask) {
                  ask.temperature = 1.2;
                  ask.top_p = 0.95;
                  ask.seed = 7;
                },
                [](wire::Ask& ask) { ask.temperature = 0.3; }},
        Drawing{"penalties",
                [](wire::Ask& ask) {
                  ask.repetition_penalty = 1.5;
                  ask.frequency_penalty = 1;
                },
                [](wire::Ask& ask) {
                  ask.repetition_penalty = 1;
                  ask.frequency_penalty = 0;
                }},
        // The most likely words of the answer are forbidden, so that others come in their place.
        Drawing{"second best",
                {},
                [](wire::Ask& ask) {
                  for (std::int32_t token = 300; token < 1300; ++token)
                    ask.bias.push_back({.token = token, .bias = -100});
                }},
        Drawing{"without the bias",
                [](wire::Ask& ask) {
                  for (std::int32_t token = 300; token < 1300; ++token)
                    ask.bias.push_back({.token = token, .bias = -100});
                },
                [](wire::Ask& ask) { ask.bias.clear(); }},
        Drawing{"without the grammar",
                [](wire::Ask& ask) {
                  ask.format = "gbnf";
                  ask.rule = grammar_of_letters;
                },
                [](wire::Ask& ask) {
                  ask.format.clear();
                  ask.rule.clear();
                }}),
    [](const testing::TestParamInfo<Drawing>& row) {
      std::string name = row.param.name;
      std::ranges::replace(name, ' ', '_');
      return name;
    });

INSTANTIATE_TEST_SUITE_P(OnGpuOrNot, ServedCheats,
                         testing::Values(Cheat{false, "f32"}, Cheat{true, "f32"},
                                         Cheat{false, "int8"}, Cheat{true, "int8"}),
                         [](const testing::TestParamInfo<Cheat>& row) {
                           return std::string(row.param.gpu ? "gpu_" : "cpu_") +
                                  row.param.activations;
                         });

}  // namespace
}  // namespace weft::cli
