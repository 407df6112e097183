// Random histories of a desk, each from a seed. Workers join, leave, fall silent, have no room,
// load and link late, lose lines and send nonsense, while clients ask and give up. After every
// event the desk's tables are consistent, no worker is told to hold more than it offered, no shard
// that weighs answers is asked for one, and every token of a request has reached its client once
// and in order. At the end every request, audit and search has ended once.
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>
#include <set>

#include "common/base/format.h"
#include "common/base/long_tests.h"
#include "decisions/inference/desk.h"
#include "decisions/inference/placement.h"
#include "decisions/inference/test_model_card.h"

namespace weft::inference {
namespace {

namespace wire = protocol::serving;
using namespace std::chrono_literals;

class History : public DeskWorld {
 public:
  explicit History(std::uint64_t seed) : seed_(seed), random_(seed), desk_(*this, settings(seed)) {
    // In every second history the workers really have the room that they offer.
    room_is_true_ = seed % 2 == 0;
  }

  void run(std::size_t steps) {
    desk_.put_model(wide_card("small", 1), time_);
    desk_.put_model(wide_card("long", 3), time_);
    for (std::uint32_t i = 0; i < 4; ++i) join();
    for (step_ = 0; step_ < steps && !testing::Test::HasFailure(); ++step_) {
      step();
      look();
    }
    // Waiting clients get an answer or an error within these times.
    for (const ServingId id : std::set(alive_)) leave(id);
    for (int i = 0; i < 400 && !testing::Test::HasFailure(); ++i) pass(500ms);
    EXPECT_EQ(ended_.size(), asked_) << where();
    EXPECT_EQ(audited_.size(), audits_) << where();
    EXPECT_EQ(traced_.size(), searches_) << where();
    EXPECT_TRUE(desk_.chains().empty()) << where();
  }

  [[nodiscard]] std::size_t answered() const { return answered_; }
  [[nodiscard]] std::size_t audits_done() const { return audits_done_; }
  [[nodiscard]] std::size_t weighed() const { return weighed_; }
  [[nodiscard]] const ServingCounters& counters() const { return desk_.counters(); }

  void send(ServingId session, const wire::ServingCoordinatorMessage& message) override {
    EXPECT_TRUE(alive_.contains(session)) << where() << ": worker " << session << " has left";
    inbox_[session].push_back(message);
    if (const auto* load = std::get_if<wire::Load>(&message)) {
      const ModelCard model = card(load->name, 1, layers);
      held_[session][load->shard] = load->cache_bytes > 0
                                        ? load->cache_bytes + bytes_of(model, *load, 0)
                                        : bytes_of(model, *load, load->sequences);
      if (load->beside.empty()) return;
      const std::uint64_t weights = bytes_of(model, *load, 0);
      held_[session][load->shard] = weights + weights * 34 / 64;
      weighing_[session].insert(load->shard);
    } else if (const auto* unload = std::get_if<wire::Unload>(&message)) {
      held_[session].erase(unload->shard);
    }
  }
  void send_hop(ServingId session, ByteVector) override {
    EXPECT_TRUE(alive_.contains(session)) << where();
  }
  void close(ServingId session, const std::string&) override { forget(session); }
  void tokens(RequestId request, const std::vector<wire::Token>& tokens) override {
    EXPECT_FALSE(ended_.contains(request)) << where() << ": a token behind the end";
    for (const wire::Token& token : tokens)
      EXPECT_EQ(token.id, told_[request]++) << where() << ": request " << request;
  }
  void ended(RequestId request, const AnswerEnd& end) override {
    EXPECT_TRUE(ended_.insert(request).second) << where() << ": request " << request;
    EXPECT_EQ(end.answer_tokens, static_cast<std::uint32_t>(told_[request])) << where();
    answered_ += end.reason == "length" ? 1U : 0U;
  }
  void audited(RequestId request, const AuditEnd& end) override {
    EXPECT_TRUE(audited_.insert(request).second) << where() << ": audit " << request;
    audits_done_ += end.error ? 0U : 1U;
    weighed_ += end.beside.empty() ? 0U : 1U;
  }
  void traced(RequestId request, const TraceEnd&) override {
    EXPECT_TRUE(traced_.insert(request).second) << where() << ": search " << request;
  }
  bool is_trusted(const PublicKey& key) override { return key.bytes[2] == 0; }
  bool is_root(const PublicKey& key) override { return key.bytes[2] == 0 && key.bytes[0] % 3 == 0; }

 private:
  static constexpr std::uint32_t layers = 6;

  static DeskSettings settings(std::uint64_t seed) {
    DeskSettings out{.grow_after = 300ms, .shrink_after = 3s, .sequences = 2, .batch = 4};
    out.waiting_max = 6;
    out.patience = 20s;
    out.resumes_max = 4;
    out.newcomers_answer = seed % 3 != 0;
    out.audit_max = 5s;
    out.audits_max = 2;
    out.audits_waiting_max = 8;
    out.trace_step_max = 5s;
    out.link_max = 3s;
    out.load_max = 8s;
    out.stall_max = 6s;
    out.relayed_for = 4s;
    out.apart_for = 10s;
    out.looks_min = 1;
    out.gain_min = 0.1;
    out.quiet = 2s;
    return out;
  }
  static ModelCard wide_card(const std::string& name, std::uint32_t shards_min) {
    ModelCard out = card(name, shards_min, layers);
    out.weights = store::WeightWidth::wide;
    return out;
  }
  static std::uint64_t bytes_of(const ModelCard& model, const wire::Load& load,
                                std::uint32_t sequences) {
    return shard_bytes(model, load.first_layer, load.end_layer, load.context, sequences);
  }
  std::uint32_t pick(std::uint32_t count) { return static_cast<std::uint32_t>(random_() % count); }
  bool chance(std::uint32_t percent) { return pick(100) < percent; }
  ServingId any_worker() {
    return *std::next(alive_.begin(), pick(static_cast<std::uint32_t>(alive_.size())));
  }
  [[nodiscard]] std::string where() const { return weft::format("seed {} step {}", seed_, step_); }

  void look() {
    EXPECT_EQ(desk_.inconsistency(), "") << where();
    for (const auto& [session, shards] : held_) {
      std::uint64_t used = 0;
      for (const auto& [shard, bytes] : shards) used += bytes;
      EXPECT_LE(used, memory_.at(session)) << where() << ": worker " << session;
    }
  }

  void step() {
    const std::uint32_t what = pick(100);
    if (alive_.empty() || what < 3) return join();
    if (what < 5) return leave(any_worker());
    if (what < 6) return void(silent_.insert(any_worker()));
    if (what < 24) return ask();
    if (what < 26) return drop();
    if (what < 40) return pass(Duration(100ms) * (1 + pick(4)));
    if (what < 43) return audit();
    if (what < 44) return search();
    if (what < 46) return slow_line();
    if (what < 48) return nonsense();
    if (what < 49) return change_models();
    if (what < 72) return draw();
    receive(any_worker());
  }

  // --- Workers
  void join() {
    if (alive_.size() >= 9) return;
    const ServingId id = ++sessions_;
    PublicKey key;
    key.bytes[0] = static_cast<std::uint8_t>(id);
    key.bytes[1] = static_cast<std::uint8_t>(id >> 8);
    key.bytes[2] = chance(30) ? 1 : 0;
    keys_[id] = key;
    alive_.insert(id);
    memory_[id] = std::uint64_t{20 + pick(140)} << 20;
    desk_.join(
        id, key,
        {.token = "t",
         .memory_bytes = memory_[id],
         .gb_per_s = 1.0 + pick(50),
         .lines = chance(50) ? std::vector<std::string>{"webrtc"} : std::vector<std::string>{},
         .weighs = chance(80)},
        time_);
  }
  void forget(ServingId id) {
    alive_.erase(id);
    silent_.erase(id);
    inbox_.erase(id);
    held_.erase(id);
    answers_.erase(id);
  }
  void leave(ServingId id) {
    forget(id);
    desk_.left(id, time_);
  }
  // Delivers one message of the coordinator to the worker.
  void receive(ServingId id) {
    auto& inbox = inbox_[id];
    if (inbox.empty()) return;
    const wire::ServingCoordinatorMessage message = inbox.front();
    inbox.pop_front();
    if (const auto* load = std::get_if<wire::Load>(&message)) {
      if (!room_is_true_ && chance(4))
        return desk_.hear(
            id, wire::Unloaded{.shard = load->shard, .code = "out_of_memory", .message = "full"},
            time_);
      if (chance(97))
        desk_.hear(id, wire::Loaded{.shard = load->shard, .sequences = chance(30) ? 1U : 0U},
                   time_);
    } else if (const auto* link = std::get_if<wire::Link>(&message)) {
      links_[id] = *link;
      shard_of_[{id, link->chain}] = link->members[link->index].shard;
      wire::Linked linked{.chain = link->chain, .epoch = link->epoch, .line = "webrtc"};
      if (link->members.size() > 1 && chance(10)) {
        linked.line = "relay";
        linked.unreached.push_back(pick(static_cast<std::uint32_t>(link->members.size())));
      }
      if (chance(97)) desk_.hear(id, linked, time_);
    } else if (const auto* ask = std::get_if<wire::Ask>(&message)) {
      if (ask->audit) {
        wire::Tokens tokens{.request = ask->request, .epoch = ask->epoch};
        tokens.prints = {{.at = 0, .data = "AAAA"}};
        if (weighs(id, ask->chain)) tokens.beside = tokens.prints;
        desk_.hear(id, tokens, time_);
        desk_.hear(id,
                   wire::Answered{.request = ask->request, .epoch = ask->epoch, .reason = "length"},
                   time_);
        return;
      }
      EXPECT_FALSE(weighs(id, ask->chain)) << where() << ": a shard that weighs is asked";
      for (std::size_t i = 0; i < ask->answered.size(); ++i)
        EXPECT_EQ(ask->answered[i], static_cast<std::int32_t>(i)) << where();
      answers_[id][ask->request] = {*ask, static_cast<std::uint32_t>(ask->answered.size())};
    } else if (const auto* drop = std::get_if<wire::Drop>(&message)) {
      answers_[id].erase(drop->request);
    } else if (std::holds_alternative<wire::Unlink>(message)) {
      answers_[id].clear();
    }
  }
  [[nodiscard]] bool weighs(ServingId id, std::uint32_t chain) {
    const auto shard = shard_of_.find({id, chain});
    return shard != shard_of_.end() && weighing_[id].contains(shard->second);
  }
  // Draws tokens of a request that a worker answers: token number n is n.
  void draw() {
    const ServingId id = any_worker();
    auto& open = answers_[id];
    if (open.empty()) return;
    const auto one = std::next(open.begin(), pick(static_cast<std::uint32_t>(open.size())));
    const RequestId request = one->first;
    auto& [ask, next] = one->second;
    if (next >= ask.tokens_max) {
      const wire::Answered end{.request = request, .epoch = ask.epoch, .reason = "length"};
      open.erase(one);
      return desk_.hear(id, end, time_);
    }
    if (chance(2)) {
      const wire::Answered end{.request = request,
                               .epoch = ask.epoch,
                               .reason = "failed",
                               .code = chance(50) ? "device_lost" : "invalid_argument"};
      open.erase(one);
      return desk_.hear(id, end, time_);
    }
    wire::Tokens tokens{.request = request, .epoch = ask.epoch, .first = next};
    tokens.tokens.push_back({.id = static_cast<std::int32_t>(next++)});
    desk_.hear(id, tokens, time_);
  }
  void slow_line() {
    const ServingId id = any_worker();
    desk_.measured(id, 1ms * pick(2000), time_);
    const auto link = links_.find(id);
    if (link == links_.end()) return;
    const std::uint32_t other = pick(static_cast<std::uint32_t>(link->second.members.size()) + 1);
    const std::uint32_t epoch = link->second.epoch;
    switch (pick(3)) {
      case 0:
        return desk_.hear(
            id, wire::Parted{.chain = link->second.chain, .epoch = epoch, .member = other}, time_);
      case 1:
        return desk_.hear(
            id,
            wire::Broken{
                .chain = link->second.chain, .epoch = epoch, .member = other, .message = "x"},
            time_);
      default:
        break;
    }
    wire::Pulse pulse{.load = 0.5};
    for (const wire::Member& member : link->second.members)
      pulse.peers.push_back({.worker = member.worker, .ms = 1.0 + pick(400)});
    pulse.paces.push_back(
        {.shard = link->second.members[link->second.index].shard, .ms = 0.1 + pick(200)});
    desk_.hear(id, pulse, time_);
  }
  void nonsense() {
    const ServingId id = any_worker();
    const RequestId request = ids_ == 0 ? 0 : pick(ids_ + 1);
    switch (pick(6)) {
      case 0:
        return desk_.hear(id, wire::Loaded{.shard = pick(60)}, time_);
      case 1:
        return desk_.hear(id, wire::Tokens{.request = request, .tokens = {{.id = 3}}}, time_);
      case 2:
        return desk_.hear(id, wire::Answered{.request = request, .reason = "eos"}, time_);
      case 3:
        return desk_.hear(id, wire::Reopened{.chain = pick(9), .epoch = pick(9), .line = pick(3)},
                          time_);
      case 4:
        return desk_.hop(id, ByteVector(pick(40)), time_);
      default:
        return desk_.expel(keys_.at(id), "It was told to go.", time_);
    }
  }

  // --- Clients
  wire::Ask ask_of(std::uint32_t tokens) {
    wire::Ask ask{.prompt = {7, 8, 9}};
    ask.tokens_max = tokens;
    return ask;
  }
  void ask() {
    AnswerRequest request{.id = ++ids_,
                          .model = chance(50) ? "small" : "long",
                          .conversation = pick(5),
                          .asker = pick(4),
                          .ask = ask_of(1 + pick(6))};
    if (chance(20)) request.patience = Duration(100ms) * (1 + pick(60));
    request.for_newcomers = chance(60);
    request.shadow = chance(10);
    // A request ends with either a refusal here or one ended().
    if (desk_.ask(std::move(request), time_)) ++asked_;
  }
  void drop() {
    if (ids_ > 0) desk_.drop(1 + pick(ids_), time_);
  }
  void audit() {
    AuditRequest request;
    request.id = ++ids_;
    request.model = chance(50) ? "small" : "long";
    request.draw = random_();
    request.ask = ask_of(0);
    request.ask.answered = {0, 1};
    if (!alive_.empty()) request.except.push_back(keys_.at(any_worker()));
    ++audits_;
    desk_.audit(std::move(request), time_);
  }
  void search() {
    TraceRequest request{.id = ++ids_, .model = chance(50) ? "small" : "long", .draw = random_()};
    request.ask = ask_of(0);
    request.pipeline = {.chain = 1 + pick(20), .epoch = 1 + pick(3)};
    for (std::uint32_t at = 0; at < layers; at += 2)
      request.pipeline.stages.push_back(
          {.worker = keys_.at(any_worker()), .begin = at, .end = at + 2});
    ++searches_;
    desk_.trace(std::move(request), time_);
  }
  void change_models() {
    const bool small = chance(50);
    if (chance(50)) return desk_.remove_model(small ? "small" : "long", time_);
    ModelCard changed = wide_card(small ? "small" : "long", small ? 1 : 3);
    if (chance(50)) changed.file = std::string(64, chance(50) ? 'a' : 'c');
    desk_.put_model(changed, time_);
  }
  void pass(Duration duration) {
    for (Duration done{}; done < duration; done += 100ms) {
      time_ += 100ms;
      for (const ServingId id : std::set(alive_)) {
        if (!silent_.contains(id)) desk_.hear(id, wire::Pulse{}, time_);
      }
      desk_.tick(time_);
      look();
    }
  }

  const std::uint64_t seed_;
  std::mt19937_64 random_;
  Instant time_{};
  Desk desk_;
  bool room_is_true_ = false;
  std::size_t step_ = 0;
  ServingId sessions_ = 0;
  RequestId ids_ = 0;
  std::size_t asked_ = 0, audits_ = 0, searches_ = 0, answered_ = 0, audits_done_ = 0, weighed_ = 0;
  std::set<ServingId> alive_, silent_;
  std::map<ServingId, PublicKey> keys_;
  std::map<ServingId, std::uint64_t> memory_;
  std::map<ServingId, std::deque<wire::ServingCoordinatorMessage>> inbox_;
  // The bytes of each shard that each worker holds.
  std::map<ServingId, std::map<std::uint32_t, std::uint64_t>> held_;
  std::map<ServingId, wire::Link> links_;
  // The shards that weigh, and each worker's shard in each chain.
  std::map<ServingId, std::set<std::uint32_t>> weighing_;
  std::map<std::pair<ServingId, std::uint32_t>, std::uint32_t> shard_of_;
  std::map<ServingId, std::map<RequestId, std::pair<wire::Ask, std::uint32_t>>> answers_;
  std::map<RequestId, std::int32_t> told_;
  std::set<RequestId> ended_, audited_, traced_;
};

TEST(DeskHistories, LeaveTheTablesInAgreementAndEndEveryRequestOnce) {
  std::size_t answered = 0, audits = 0, weighed = 0;
  std::uint64_t resumed = 0, replanned = 0;
  const std::uint64_t histories = test::long_tests() ? 2'000 : 60;
  for (std::uint64_t seed = 1; seed <= histories; ++seed) {
    History history(seed);
    history.run(700);
    if (testing::Test::HasFailure()) return;
    answered += history.answered();
    audits += history.audits_done();
    weighed += history.weighed();
    resumed += history.counters().resumed;
    replanned += history.counters().replanned;
  }
  // The counts make sure that the histories test something: many requests must succeed.
  EXPECT_GT(answered, histories);
  EXPECT_GT(audits, histories / 4);
  EXPECT_GT(weighed, histories / 8);
  EXPECT_GT(resumed, histories);
  EXPECT_GT(replanned, 0U);
}

}  // namespace
}  // namespace weft::inference
