// A worker's connection to /v1/serve, with a coordinator that the test plays: the chunks that are
// fetched and stored, the worker that answers, the loss of a worker, and heartbeats during
// computations. Real engines, simulated time.
#include "worker/inference/serving.h"

#include <gtest/gtest.h>

#include <numeric>

#include "common/base/test_data.h"
#include "engine/chat/model_text.h"
#include "engine/gguf/mapped_file.h"
#include "worker/inference/test_machine.h"

namespace weft::worker {
namespace {

namespace wire = protocol::serving;
using namespace std::chrono_literals;

constexpr std::uint32_t chunk_bytes = 1 << 16;
constexpr std::uint32_t layers = 6;
constexpr Duration silent_max = 1600ms;  // The coordinator's limit for a worker's silence.

// A model that is stored in the coordinator's blobs.
struct Stored {
  explicit Stored(const std::string& name = "tiny-llama-chat-q8_0") {
    const auto path = test::find_data("models/" + name + ".gguf");
    const auto source = gguf::MappedFile::open(path->string()).value();
    const ByteSpan all = source->view(0, source->bytes()).value();
    file = gguf::read_file(*source).value();
    model = llm::read_model(file).value();
    text = chat::ModelText::create(file.metadata).value();
    bytes.assign(all.begin(), all.end());
    hash = crypto::sha256(bytes);
    ByteVector digests;
    for (std::size_t at = 0; at < bytes.size(); at += chunk_bytes) {
      const Hash one = crypto::sha256(
          ByteSpan(bytes).subspan(at, std::min<std::size_t>(chunk_bytes, bytes.size() - at)));
      digests.insert(digests.end(), one.bytes.begin(), one.bytes.end());
    }
    chunks = crypto::sha256(digests);
    blobs[hash] = bytes;
    blobs[chunks] = std::move(digests);
  }
  // Returns the offsets of the chunks that contain the header and these layers.
  [[nodiscard]] std::set<std::uint64_t> chunks_of(std::uint32_t begin, std::uint32_t end) const {
    std::set<std::uint64_t> out;
    const auto add = [&](std::uint64_t first, std::uint64_t count) {
      for (std::uint64_t at = first / chunk_bytes * chunk_bytes; at < first + count;
           at += chunk_bytes)
        out.insert(at);
    };
    add(0, file.data_offset);
    for (const gguf::Tensor* tensor : llm::tensors_of(model, begin, end))
      add(tensor->offset, tensor->bytes);
    return out;
  }

  ByteVector bytes;
  gguf::File file;
  llm::Model model;
  std::unique_ptr<chat::ModelText> text;
  Hash hash, chunks;
  std::map<Hash, ByteVector> blobs;
};

class ServingTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { stored = std::make_unique<Stored>(); }
  static void TearDownTestSuite() { stored.reset(); }

  // A worker that has joined. Its hops are passed on as by the coordinator's relay.
  struct Worker {
    SimulatedMachine machine;
    std::unique_ptr<Serving> serving;
    explicit Worker(SimulatedTime& time) : machine(time) {}
  };
  Worker& join() {
    Worker& worker = *workers.emplace_back(std::make_unique<Worker>(time));
    worker.machine.blobs = &stored->blobs;
    worker.machine.on_hop = [this, &worker](const ByteVector& bytes) { relay(worker, bytes); };
    worker.serving = std::make_unique<Serving>(
        worker.machine, Serving::Options{.memory_bytes = 1 << 30, .gb_per_s = 1});
    worker.serving->join("token");
    EXPECT_TRUE(time.run_until([&] { return !worker.machine.all<wire::Offer>().empty(); }));
    worker.machine.deliver(wire::Serving{.pulse_ms = 500});
    return worker;
  }
  void relay(const Worker& from, const ByteVector& bytes) {
    const wire::HopFrame frame = wire::decode_hop(bytes).value();
    ++hops;
    ASSERT_EQ(members.at(frame.from), &from);
    if (members.at(frame.to) != nullptr) members.at(frame.to)->machine.deliver(bytes);
  }

  static wire::Load order(std::uint32_t shard, std::uint32_t begin, std::uint32_t end) {
    return {.shard = shard,
            .name = "tiny",
            .model = stored->hash,
            .bytes = stored->bytes.size(),
            .header_bytes = stored->file.data_offset,
            .chunk_bytes = chunk_bytes,
            .chunks = stored->chunks,
            .first_layer = begin,
            .end_layer = end,
            .context = 512,
            .sequences = 2};
  }
  // Loads a shard; returns true if the worker reports it as loaded, false if it reports an error.
  bool load(Worker& worker, std::uint32_t shard, std::uint32_t begin, std::uint32_t end) {
    return load(worker, order(shard, begin, end));
  }
  bool load(Worker& worker, const wire::Load& order) {
    const auto told = [&] {
      return worker.machine.all<wire::Loaded>().size() +
             worker.machine.all<wire::Unloaded>().size();
    };
    const std::size_t before = told(), loaded = worker.machine.all<wire::Loaded>().size();
    worker.machine.deliver(order);
    EXPECT_TRUE(time.run_until([&] { return told() > before; }));
    return worker.machine.all<wire::Loaded>().size() > loaded;
  }
  // Links workers, each with the number of its shard, into chain 1.
  void link(std::uint32_t epoch, const std::vector<std::pair<Worker*, std::uint32_t>>& chain) {
    wire::Link order{.chain = 1, .epoch = epoch, .wire = "f32", .exact = true, .members = {}};
    members.clear();
    for (const auto& [worker, shard] : chain) {
      order.members.push_back({.worker = {}, .shard = shard, .lines = {}});
      members.push_back(worker);
    }
    const auto linked = [&] {
      return std::ranges::count_if(chain, [&](const auto& member) {
        const auto told = member.first->machine.template all<wire::Linked>();
        return !told.empty() && told.back().epoch == epoch;
      });
    };
    for (std::uint32_t i = 0; i < chain.size(); ++i) {
      order.index = i;
      chain[i].first->machine.deliver(order);
    }
    ASSERT_TRUE(
        time.run_until([&] { return linked() == static_cast<std::ptrdiff_t>(chain.size()); }));
  }
  // Tokenizes a text as the coordinator does.
  static std::vector<std::int32_t> read(std::string_view text) {
    return stored->text->prompt({.chat = false, .text = text}).value();
  }
  static wire::Ask ask(std::uint32_t request, std::uint32_t epoch, std::uint32_t tokens,
                       std::vector<std::int32_t> answered = {}) {
    return {.request = request,
            .chain = 1,
            .epoch = epoch,
            .prompt = read("KING RICHARD III:\nNow is the winter of"),
            .tokens_max = tokens,
            .answered = std::move(answered)};
  }
  // Returns the reported tokens of a request, and checks that they have no gaps.
  static std::vector<std::int32_t> tokens(const Worker& worker, std::uint32_t request,
                                          std::vector<std::int32_t> before = {}) {
    std::vector<std::int32_t> out = std::move(before);
    for (const auto& message : worker.machine.all<wire::Tokens>()) {
      if (message.request != request) continue;
      EXPECT_EQ(message.first, out.size());
      for (const auto& token : message.tokens) out.push_back(token.id);
    }
    return out;
  }
  bool answered(const Worker& worker, std::uint32_t request) {
    return time.run_until([&] {
      return std::ranges::contains(worker.machine.all<wire::Answered>(), request,
                                   &wire::Answered::request);
    });
  }
  // Returns the answer of one worker with all layers.
  std::vector<std::int32_t> whole(std::uint32_t count) {
    Worker& alone = join();
    EXPECT_TRUE(load(alone, 1, 0, layers));
    link(1, {{&alone, 1}});
    alone.machine.deliver(ask(1, 1, count));
    EXPECT_TRUE(answered(alone, 1));
    return tokens(alone, 1);
  }
  // Returns the longest time without a message of the worker.
  static Duration silence(const Worker& worker) {
    Duration longest{};
    for (std::size_t i = 1; i < worker.machine.heard.size(); ++i)
      longest =
          std::max(longest, worker.machine.heard[i].first - worker.machine.heard[i - 1].first);
    return longest;
  }

  static inline std::unique_ptr<Stored> stored;
  SimulatedTime time;
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<Worker*> members;  // Members of the chain; null: a lost one.
  std::size_t hops = 0;
};

// --- Tests of weights.

TEST_F(ServingTest, FetchesTheLayersThatItServesSeveralChunksAtATimeAndNoOthers) {
  Worker& worker = join();

  ASSERT_TRUE(load(worker, 1, 2, 4));

  const std::set<std::uint64_t> wanted = stored->chunks_of(2, 4);
  EXPECT_EQ(std::set(worker.machine.fetched.begin(), worker.machine.fetched.end()), wanted);
  EXPECT_EQ(worker.machine.fetched.size(), wanted.size()) << "each once";
  EXPECT_LT(wanted.size() * chunk_bytes, stored->bytes.size());
  EXPECT_EQ(worker.machine.under_way_most, 4u);
}

TEST_F(ServingTest, GoesOnWithWhatItHasAfterAnInterruption) {
  Worker& worker = join();
  const std::size_t wanted = stored->chunks_of(0, 3).size();
  worker.machine.fetches_left = wanted / 2;
  ASSERT_FALSE(load(worker, 1, 0, 3));
  EXPECT_EQ(worker.machine.all<wire::Unloaded>().back().code, "unavailable");

  worker.machine.fetches_left = ~std::size_t{0};
  ASSERT_TRUE(load(worker, 2, 0, 3));
  EXPECT_EQ(worker.machine.fetched.size(), wanted) << "no chunk twice";

  // Layers of another shard share the chunks that both touch.
  ASSERT_TRUE(load(worker, 3, 2, 5));
  std::set<std::uint64_t> both = stored->chunks_of(0, 3);
  both.merge(stored->chunks_of(2, 5));
  EXPECT_EQ(worker.machine.fetched.size(), both.size());
}

// The requests of a worker whose address asks too often are refused a few times.
TEST_F(ServingTest, AsksAgainForWhatIsRefusedForNow) {
  Worker& worker = join();
  worker.machine.refusals = 4;
  EXPECT_TRUE(load(worker, 1, 0, 3));
}

TEST_F(ServingTest, TakesNoBytesButThoseOfTheHash) {
  Worker& worker = join();
  const std::uint64_t broken = *std::next(stored->chunks_of(0, layers).begin(), 20);
  worker.machine.corrupt = {broken};
  ASSERT_FALSE(load(worker, 1, 0, layers));
  EXPECT_EQ(worker.machine.all<wire::Unloaded>().back().code, "data_loss");
  EXPECT_EQ(worker.machine.fetched.count(broken), 3u)
      << "asked for again, a bounded number of times";

  // Stored chunks that are damaged are fetched again.
  worker.machine.corrupt.clear();
  ASSERT_TRUE(load(worker, 2, 0, layers));
  worker.machine.fetched.clear();
  Worker& later = join();
  later.machine.kept = worker.machine.kept;
  later.machine.kept.at(7).back() ^= 1;
  ASSERT_TRUE(load(later, 1, 0, layers));
  EXPECT_EQ(later.machine.fetched, (std::multiset<std::uint64_t>{std::uint64_t{7} * chunk_bytes}));
}

TEST_F(ServingTest, KeepsItsLayersOverALostConnection) {
  Worker& worker = join();
  ASSERT_TRUE(load(worker, 1, 0, 3));
  worker.machine.cut();
  ASSERT_TRUE(time.run_until([&] { return worker.machine.all<wire::Offer>().size() == 2; }))
      << "it comes back by itself";
  const std::size_t fetched = worker.machine.fetched.size();

  ASSERT_TRUE(load(worker, 9, 0, 3));

  EXPECT_EQ(worker.machine.engines, 1u);
  EXPECT_EQ(worker.machine.fetched.size(), fetched);
}

// --- Tests of answers.

TEST_F(ServingTest, AnswersAloneAndStopsWhenItIsTold) {
  const auto answer = whole(24);
  EXPECT_EQ(answer.size(), 24u);
  Worker& worker = *workers.back();
  const wire::Answered end = worker.machine.all<wire::Answered>().back();
  EXPECT_EQ(end.reason, "length");
  EXPECT_GT(end.prompt_tokens, 5u);

  worker.machine.deliver(ask(2, 1, 400));
  ASSERT_TRUE(time.run_until([&] { return tokens(worker, 2).size() > 3; }));
  worker.machine.deliver(wire::Drop{.request = 2});
  ASSERT_TRUE(answered(worker, 2));
  EXPECT_EQ(worker.machine.all<wire::Answered>().back().reason, "cancelled");
  EXPECT_LT(tokens(worker, 2).size(), 400u);
  EXPECT_EQ(worker.serving->stats().running, 0u);
}

TEST_F(ServingTest, AnswersSeveralAtOnceAsEachAlone) {
  const auto expected = whole(24);
  Worker& worker = *workers.back();
  for (std::uint32_t request = 10; request < 14; ++request)
    worker.machine.deliver(ask(request, 1, 24));  // Two of the four requests have to wait.
  for (std::uint32_t request = 10; request < 14; ++request) {
    ASSERT_TRUE(answered(worker, request));
    EXPECT_EQ(tokens(worker, request), expected);
  }
}

class ServingLosses : public ServingTest, public testing::WithParamInterface<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Members, ServingLosses, testing::Values(0, 1, 2));

TEST_P(ServingLosses, LeaveTheTokensAsTheyWere) {
  const std::size_t count = 300;
  const auto expected = whole(count);
  std::vector<std::pair<Worker*, std::uint32_t>> chain;
  for (std::uint32_t i = 0; i < 3; ++i) {
    Worker& worker = join();
    ASSERT_TRUE(load(worker, i + 1, 2 * i, 2 * i + 2));
    chain.emplace_back(&worker, i + 1);
  }
  Worker& spare = join();
  link(1, chain);
  Worker* first = chain[0].first;
  first->machine.deliver(ask(1, 1, count));
  ASSERT_TRUE(time.run_until([&] { return tokens(*first, 1).size() >= 280; }));

  const std::vector<std::int32_t> heard = tokens(*first, 1);
  ASSERT_LT(heard.size(), count);
  const auto lost = GetParam();
  chain[lost].first->serving->leave();
  ASSERT_TRUE(load(spare, 9, static_cast<std::uint32_t>(2 * lost),
                   static_cast<std::uint32_t>(2 * lost + 2)));
  chain[lost] = {&spare, 9};
  link(2, chain);
  first = chain[0].first;
  first->machine.heard.clear();
  hops = 0;
  first->machine.deliver(ask(1, 2, count, heard));
  ASSERT_TRUE(answered(*first, 1));

  EXPECT_EQ(tokens(*first, 1, heard), expected)
      << "also behind more tokens than are read one by one";
  EXPECT_LT(hops, 3 * 60u) << "what is known is read in parts";
}

TEST_F(ServingTest, HearsNothingOfAnEarlierEpoch) {
  const auto expected = whole(16);
  Worker &first = join(), &second = join();
  ASSERT_TRUE(load(first, 1, 0, 3));
  ASSERT_TRUE(load(second, 2, 3, layers));
  link(4, {{&first, 1}, {&second, 2}});
  const ByteVector stray = wire::encode(
      wire::HopFrame{.chain = 1, .epoch = 3, .from = 0, .to = 1, .payload = {1, 2, 3}});
  second.machine.deliver(stray);
  first.machine.deliver(ask(1, 3, 16));
  time.run_for(1s);
  EXPECT_TRUE(first.machine.all<wire::Answered>().empty());
  EXPECT_TRUE(second.machine.all<wire::Broken>().empty());

  first.machine.deliver(ask(2, 4, 16));
  ASSERT_TRUE(answered(first, 2));
  EXPECT_EQ(tokens(first, 2), expected);
}

TEST_F(ServingTest, SaysWhoTalksNonsenseAndWhatItLacks) {
  Worker &first = join(), &second = join();
  ASSERT_TRUE(load(first, 1, 0, 3));
  ASSERT_TRUE(load(second, 2, 3, layers));
  link(1, {{&first, 1}, {&second, 2}});
  second.machine.deliver(wire::encode(
      wire::HopFrame{.chain = 1, .epoch = 1, .from = 0, .to = 1, .payload = {1, 2, 3}}));
  ASSERT_TRUE(time.run_until([&] { return !second.machine.all<wire::Broken>().empty(); }));
  EXPECT_EQ(second.machine.all<wire::Broken>().back().member, 0u);

  first.machine.deliver(wire::Link{.chain = 2,
                                   .epoch = 1,
                                   .index = 0,
                                   .wire = "f32",
                                   .members = {{.worker = {}, .shard = 77, .lines = {}}}});
  ASSERT_TRUE(time.run_until([&] { return !first.machine.all<wire::Broken>().empty(); }));
  EXPECT_EQ(first.machine.all<wire::Broken>().back().message, "The shard is not loaded.");
}

// --- Tests of shards that weigh answers.

class ServingWeighing : public ServingTest {
 protected:
  static void SetUpTestSuite() {
    if (test::find_data("models/tiny-llama-chat-f16.gguf"))
      stored = std::make_unique<Stored>("tiny-llama-chat-f16");
  }
  void SetUp() override {
    if (!stored) GTEST_SKIP() << test::missing_data("models/tiny-llama-chat-f16.gguf");
  }
  static wire::Load order_beside(std::uint32_t shard, const std::string& format = "q8_0") {
    wire::Load out = order(shard, 0, layers);
    out.activations = "f32";
    out.beside = format;
    return out;
  }
  static wire::Ask audit_of(std::uint32_t request, std::vector<std::int32_t> answered) {
    wire::Ask out = ask(request, 1, static_cast<std::uint32_t>(answered.size()), answered);
    out.audit = out.prints = true;
    out.redraw = 0.005;
    return out;
  }
};

TEST_F(ServingWeighing, ReadsTheAnswersOfOthersWithBothWeightsAndGivesNone) {
  Worker& worker = join();
  EXPECT_TRUE(worker.machine.all<wire::Offer>().back().weighs);
  ASSERT_TRUE(load(worker, 1, 0, layers));
  link(1, {{&worker, 1}});
  worker.machine.deliver(ask(1, 1, 40));
  ASSERT_TRUE(answered(worker, 1));
  const auto answer = tokens(worker, 1);
  const std::uint64_t bytes = worker.machine.all<wire::Loaded>().back().memory_bytes;

  ASSERT_TRUE(load(worker, order_beside(2)));
  EXPECT_GT(worker.machine.all<wire::Loaded>().back().memory_bytes, bytes + bytes / 2);
  link(1, {{&worker, 2}});
  worker.machine.deliver(ask(2, 1, 40));
  ASSERT_TRUE(answered(worker, 2));
  EXPECT_EQ(worker.machine.all<wire::Answered>().back().reason, "failed");
  EXPECT_EQ(worker.machine.all<wire::Answered>().back().code, "unsupported");

  // The second audit is asked for while the first one is under way.
  worker.machine.deliver(audit_of(3, answer));
  worker.machine.deliver(audit_of(4, answer));
  for (const std::uint32_t request : {3U, 4U}) {
    ASSERT_TRUE(answered(worker, request));
    for (const auto& end : worker.machine.all<wire::Answered>()) {
      if (end.request == request) {
        EXPECT_EQ(end.message, "");
      }
    }
    std::map<std::uint32_t, std::string> own, beside;
    for (const auto& told : worker.machine.all<wire::Tokens>()) {
      if (told.request != request) continue;
      EXPECT_TRUE(told.tokens.empty());
      for (const auto& print : told.prints) own[print.at] = print.data;
      for (const auto& print : told.beside) beside[print.at] = print.data;
    }
    ASSERT_EQ(own.size(), 3U) << "after 0, 32 and 40 tokens";
    ASSERT_EQ(beside.size(), 3U);
    for (const auto& [at, data] : own) EXPECT_NE(beside.at(at), data) << at;
  }
  EXPECT_EQ(worker.machine.all<wire::Answered>().back().redrawn, 40U);
  EXPECT_TRUE(worker.machine.all<wire::Answered>().back().doubtful.empty());
}

TEST_F(ServingWeighing, IsRefusedUnlessTheWholeModelCanBeRounded) {
  Worker& worker = join();
  const auto refusal = [&](const wire::Load& order) {
    EXPECT_FALSE(load(worker, order));
    return worker.machine.all<wire::Unloaded>().back().message;
  };
  wire::Load part = order_beside(1), coarse = order_beside(2);
  part.end_layer = 3;
  coarse.activations = "int8";
  EXPECT_EQ(refusal(part),
            "Answers are weighed with a whole model, not only with its layers 0 to 3.");
  EXPECT_EQ(refusal(coarse),
            "Answers are weighed with activations in f32, not in another arithmetic.");
  EXPECT_EQ(refusal(order_beside(3, "q2_k")),
            "The order asks for weights in \"q2_k\" beside the model's own; this worker can round "
            "them to q8_0 alone.");
  EXPECT_EQ(worker.machine.engines, 2U) << "those of the model's own weights";
  stored = std::make_unique<Stored>();
  Worker& other = join();
  EXPECT_FALSE(load(other, order_beside(4)));
  EXPECT_EQ(other.machine.all<wire::Unloaded>().back().message,
            "No matrix of the file is wider than Q8_0, so it cannot be rounded to Q8_0.");
  SetUpTestSuite();
}

TEST_F(ServingWeighing, IsNoPlaceInALongerChain) {
  Worker& worker = join();
  ASSERT_TRUE(load(worker, order_beside(1)));
  wire::Link order{.chain = 1, .epoch = 1, .wire = "f32", .members = {}};
  for (int i = 0; i < 2; ++i) order.members.push_back({.worker = {}, .shard = 1, .lines = {}});
  for (order.index = 0; order.index < 2; ++order.index) {
    const std::size_t before = worker.machine.all<wire::Broken>().size();
    ++order.epoch;
    worker.machine.deliver(order);
    ASSERT_TRUE(time.run_until([&] { return worker.machine.all<wire::Broken>().size() > before; }));
    EXPECT_EQ(worker.machine.all<wire::Broken>().back().message,
              "A shard that weighs answers is no member of a longer chain.");
  }
}

// --- Tests of heartbeats.

class ServingSilence : public ServingTest {
 protected:
  // Returns the longest silence of a worker whose engine takes 80 ms for a position, as a large
  // model's does, while it reads a prompt of some 300 tokens and draws two answers.
  Duration while_it_computes(bool paced) {
    Worker& worker = join();
    worker.machine.row = 80ms;
    worker.machine.paced = paced;
    EXPECT_TRUE(load(worker, 1, 0, layers));
    link(1, {{&worker, 1}});
    worker.machine.heard.clear();
    for (std::uint32_t request = 1; request <= 2; ++request) {
      wire::Ask long_one = ask(request, 1, 8);
      std::string words;
      for (int i = 0; i < 45; ++i) words += "Now is the winter of ";
      long_one.prompt = read(std::string_view(words).substr(0, words.size() - request));
      worker.machine.deliver(long_one);
    }
    EXPECT_TRUE(answered(worker, 1));
    EXPECT_TRUE(answered(worker, 2));
    EXPECT_GT(worker.machine.all<wire::Answered>().front().prompt_tokens, 250u);
    return silence(worker);
  }
};

TEST_F(ServingSilence, IsShortWhileALongPromptIsRead) { EXPECT_LT(while_it_computes(true), 700ms); }
TEST_F(ServingSilence, WouldBeTakenForDeathOtherwise) {
  EXPECT_GT(while_it_computes(false), silent_max);
}

TEST_F(ServingSilence, IsShortInTheMiddleOfAChain) {
  Worker &first = join(), &second = join();
  second.machine.row = 80ms;
  ASSERT_TRUE(load(first, 1, 0, 3));
  ASSERT_TRUE(load(second, 2, 3, layers));
  link(1, {{&first, 1}, {&second, 2}});
  second.machine.heard.clear();
  wire::Ask long_one = ask(1, 1, 2);
  std::string words = "KING RICHARD III:\nNow is the winter of";
  for (int i = 0; i < 40; ++i) words += " Now is the winter of";
  long_one.prompt = read(words);
  first.machine.deliver(long_one);
  ASSERT_TRUE(answered(first, 1));
  EXPECT_LT(silence(second), 700ms);
}

}  // namespace
}  // namespace weft::worker
