// Requests for answers: they wait for a chain, are handed to one, followed token by token, and
// ended once. A request is known with all its tokens so far, so that another chain can continue it.
//
// Not for several threads. Bounds: DeskSettings::waiting_max requests of a model wait, and as many
// as dissolved chains gave back.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/protocol/serving.h"
#include "decisions/inference/answer_record.h"
#include "decisions/inference/conversations.h"
#include "decisions/inference/desk_requests.h"
#include "decisions/inference/desk_tables.h"

namespace weft::inference {

class RequestQueue {
 public:
  explicit RequestQueue(DeskTables& tables) : tables_(tables) {}

  void add_model(const std::string& model) { queues_.try_emplace(model); }
  // Ends all of its requests.
  void end_all(const std::string& model, Instant now);
  void remove_model(const std::string& model) { queues_.erase(model); }

  // As Desk::ask(), up to the planning of further chains.
  [[nodiscard]] Result<> ask(AnswerRequest request, Instant now);
  void drop(RequestId id, Instant now);
  // Hands requests that wait to chains that have a place, the asker with the fewest first.
  void hand_out(const std::string& model, Instant now);
  // The chain can answer: requests that it had before continue.
  void resume(ChainId id, Instant now);
  // The chain is gone: its requests wait again, the first to be answered; one that has lost chains
  // too often ends.
  void give_back(const Chain& chain, Instant now);
  // Ends what is not there within its deadline.
  void end_late(Instant now);
  // Ends what has waited for longer than DeskSettings::patience; `trouble` says why a model has no
  // chain, or nothing.
  void end_unserved(const std::function<std::string(const std::string& model)>& trouble,
                    Instant now);

  // What a worker tells of an answer. Gives the chain if it is to be dissolved, because a member
  // told nonsense or lost its device.
  [[nodiscard]] std::optional<ChainId> on(ServingId session,
                                          const protocol::serving::Tokens& message, Instant now);
  [[nodiscard]] std::optional<ChainId> on(ServingId session,
                                          const protocol::serving::Answered& message, Instant now);

  [[nodiscard]] bool empty() const { return requests_.empty(); }
  // What waits for chains of a model.
  struct Demand {
    std::size_t waiting = 0;
    std::optional<Instant> since{};  // That the first one waits.
    bool wants_trusted = false;      // One is for trusted workers alone.
  };
  [[nodiscard]] Demand demand(const std::string& model) const;

  [[nodiscard]] std::string inconsistency() const;

 private:
  struct Request {
    AnswerRequest what;
    ChainId chain{};  // None: waits.
    AnswerRecord record{};
    std::uint32_t shards = 0;  // Members of the chain that began it; 0: not begun.
    std::uint32_t resumed = 0;
    Instant since{};  // That it waits.
    Instant begun{};  // Its first turn; 0: not yet.
    std::optional<Instant> deadline{};
  };
  struct Queue {
    std::deque<RequestId> waiting{};
    Duration pace{};  // How long an answer takes from its turn to its end; 0: not known.
  };
  [[nodiscard]] std::deque<RequestId>::iterator next_of(
      const std::string& model, const std::function<bool(const Request&)>& can);
  // The best chain that has a place for it; none if there is none.
  [[nodiscard]] ChainId chain_for(const Request& request) const;
  // Where all places to wait are taken, an asker with fewer of them takes the last of the one with
  // the most. An answer that has begun is never given up.
  [[nodiscard]] bool make_room(const std::string& model, std::uint64_t asker, Instant now);
  void ask_chain(RequestId id, ChainId chain, Instant now);
  // Until a request that is asked now has its turn; nothing if that is not known.
  [[nodiscard]] std::optional<Duration> wait_of(const std::string& model) const;
  void end(RequestId id, std::string reason, Error error, Instant now);
  // The request, if that worker answers it in that epoch of its chain.
  [[nodiscard]] Request* request_of(ServingId session, RequestId id, std::uint32_t epoch);
  void count_work(Request& request, std::uint64_t tokens) const;

  DeskTables& tables_;
  std::map<std::string, Queue> queues_;  // By model.
  std::map<RequestId, Request> requests_;
  Conversations conversations_;
};

}  // namespace weft::inference
