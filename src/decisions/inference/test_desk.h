// A desk with a network of simulated workers, and its clock. The workers load and link at once, and
// draw tokens when a test calls draw().
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <map>
#include <random>
#include <set>

#include "decisions/inference/desk.h"
#include "decisions/inference/test_model_card.h"

namespace weft::inference {

namespace wire = protocol::serving;
using namespace std::chrono_literals;

// Returns a random number below `count`.
inline std::uint32_t pick(std::mt19937& random, std::uint32_t count) {
  return static_cast<std::uint32_t>(random() % count);
}

class Network : public DeskWorld {
 public:
  explicit Network(DeskSettings settings = {}) : desk(*this, std::move(settings)) {}

  void join(ServingId id, std::uint64_t memory_mb = 1000, double speed = 10) {
    PublicKey key;
    key.bytes[0] = static_cast<std::uint8_t>(id);
    key.bytes[1] = static_cast<std::uint8_t>(id >> 8);
    alive.insert(id);
    desk.join(id, key,
              {.token = "t",
               .memory_bytes = memory_mb << 20,
               .gb_per_s = speed,
               .weighs = weighers.contains(id)},
              time);
    settle();
  }
  void leave(ServingId id) {
    alive.erase(id);
    asked.erase(id);
    desk.left(id, time);
    settle();
  }
  RequestId ask(const std::string& model, std::uint32_t tokens = 8, std::uint64_t conversation = 0,
                std::uint64_t asker = 0, bool for_newcomers = true, bool shadow = false) {
    const RequestId id = ++ids;
    AnswerRequest request{
        .id = id, .model = model, .conversation = conversation, .asker = asker, .ask = {}};
    request.for_newcomers = for_newcomers;
    request.shadow = shadow;
    request.ask.prompt = {7, 8, 9};
    request.ask.tokens_max = tokens;
    if (auto result = desk.ask(std::move(request), time); !result) {
      refused = result.error();
      return 0;
    }
    settle();
    return id;
  }
  // Draws one token of every request that a worker answers: token number n is n.
  void draw() {
    for (const auto& [worker, requests] : std::map(asked)) {
      for (const auto& [id, ask] : requests) {
        const std::uint32_t next = drawn[{worker, id}];
        if (next >= ask.tokens_max) {
          asked[worker].erase(id);
          desk.hear(worker,
                    wire::Answered{
                        .request = id, .epoch = ask.epoch, .reason = "length", .prompt_tokens = 3},
                    time);
        } else {
          ++drawn[{worker, id}];
          desk.hear(worker,
                    wire::Tokens{.request = id,
                                 .epoch = ask.epoch,
                                 .first = next,
                                 .tokens = {{.id = static_cast<std::int32_t>(next)}}},
                    time);
        }
        settle();
      }
    }
  }
  void pass(Duration duration) {
    for (Duration done{}; done < duration; done += 100ms) {
      time += 100ms;
      for (const ServingId id : alive) {
        if (!mute.contains(id)) desk.hear(id, wire::Pulse{}, time);
      }
      desk.tick(time);
      settle();
    }
  }

  void send(ServingId session, const wire::ServingCoordinatorMessage& message) override {
    waiting.emplace_back(session, message);
  }
  void send_hop(ServingId session, ByteVector) override { hops.push_back(session); }
  void close(ServingId session, const std::string&) override {
    closed.insert(session);
    alive.erase(session);
    asked.erase(session);
  }
  void tokens(RequestId request, const std::vector<wire::Token>& tokens) override {
    for (const auto& token : tokens) told[request].push_back(token.id);
  }
  void ended(RequestId request, const AnswerEnd& end) override {
    EXPECT_FALSE(ends.contains(request)) << "a request ends once";
    ends[request] = end;
  }

  void audited(RequestId request, const AuditEnd& end) override {
    EXPECT_FALSE(audits.contains(request)) << "an audit ends once";
    audits[request] = end;
  }
  void traced(RequestId request, const TraceEnd& end) override {
    EXPECT_FALSE(traces.contains(request)) << "a search ends once";
    traces[request] = end;
  }
  bool is_trusted(const PublicKey& key) override {
    return !newcomers.contains(key.bytes[0] + (ServingId{key.bytes[1]} << 8));
  }
  bool is_root(const PublicKey& key) override {
    return roots.contains(key.bytes[0] + (ServingId{key.bytes[1]} << 8));
  }
  bool ends_so(RequestId, std::string_view) override { return ends_are_true; }
  // Asks for an audit of an answer that has ended, by workers that did not give it.
  RequestId audit(const AnswerEnd& of) {
    AuditRequest request{.id = ++ids, .model = "m", .ask = {}, .except = {}, .draw = ids};
    request.ask.answered = of.answered;
    for (const WorkShare& share : of.work) request.except.push_back(share.worker);
    const RequestId id = request.id;
    desk.audit(std::move(request), time);
    settle();
    return id;
  }

  void settle() {
    while (!waiting.empty()) {
      const auto [session, message] = waiting.front();
      waiting.pop_front();
      if (!alive.contains(session)) continue;
      if (const auto* load = std::get_if<wire::Load>(&message)) {
        this->load = *load;
        ++loads;
        orders[load->shard] = *load;
        if (slow_to_weigh && !load->beside.empty()) continue;
        if (loads > refuses_after || (refuses_to_weigh && !load->beside.empty())) {
          desk.hear(
              session,
              wire::Unloaded{.shard = load->shard, .code = "out_of_memory", .message = "no room"},
              time);
        } else if (!slow)
          desk.hear(
              session,
              wire::Loaded{.shard = load->shard,
                           .sequences = sequences_of.contains(session) ? sequences_of.at(session)
                                                                       : sequences},
              time);
      } else if (const auto* link = std::get_if<wire::Link>(&message)) {
        links[session] = *link;
        desk.hear(session,
                  wire::Linked{.chain = link->chain, .epoch = link->epoch, .line = "relay"}, time);
      } else if (const auto* what = std::get_if<wire::Ask>(&message)) {
        asked[session][what->request] = *what;
        drawn[{session, what->request}] = static_cast<std::uint32_t>(what->answered.size());
        for (std::size_t i = 0; i < what->answered.size(); ++i)
          EXPECT_EQ(what->answered[i], static_cast<std::int32_t>(i));
      } else if (const auto* drop = std::get_if<wire::Drop>(&message)) {
        asked[session].erase(drop->request);
      } else if (const auto* order = std::get_if<wire::Reopen>(&message)) {
        reopens.emplace_back(session, *order);
      } else if (std::holds_alternative<wire::Unlink>(message)) {
        asked.erase(session);
      }
    }
  }

  Desk desk;
  Instant time{};
  RequestId ids = 0;
  std::deque<std::pair<ServingId, wire::ServingCoordinatorMessage>> waiting;
  std::set<ServingId> alive, closed, mute, newcomers;
  std::set<ServingId> roots, weighers;  // Set before they join.
  bool ends_are_true = true;
  std::vector<ServingId> hops;
  std::map<ServingId, wire::Link> links;
  std::map<ServingId, std::map<RequestId, wire::Ask>> asked;
  std::map<std::pair<ServingId, RequestId>, std::uint32_t> drawn;
  std::map<RequestId, std::vector<std::int32_t>> told;
  std::map<RequestId, AnswerEnd> ends;
  std::map<RequestId, AuditEnd> audits;
  std::map<RequestId, TraceEnd> traces;
  std::vector<std::pair<ServingId, wire::Reopen>> reopens;
  std::optional<Error> refused;
  std::size_t loads = 0;
  std::map<std::uint32_t, wire::Load> orders;  // All Load messages, by the shard's number.
  wire::Load load{};                           // The last Load message to any worker.
  // The number of requests at a time that a worker reports, unless sequences_of has the worker.
  std::uint32_t sequences = 0;
  // The number of requests at a time that single workers report.
  std::map<ServingId, std::uint32_t> sequences_of;
  std::size_t refuses_after = ~std::size_t{0};
  bool slow = false;
  bool refuses_to_weigh = false, slow_to_weigh = false;
};

inline std::vector<std::int32_t> counted(std::int32_t to) {
  std::vector<std::int32_t> out;
  for (std::int32_t i = 0; i < to; ++i) out.push_back(i);
  return out;
}

}  // namespace weft::inference
