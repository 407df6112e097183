// Requests for answers. A request waits for a chain, is handed to a chain, is followed token by
// token, and ends once. It is kept with all its tokens so far, so that another chain can continue
// it.
//
// Not for several threads. Bounds: DeskSettings::waiting_max requests of a model wait, besides the
// requests that dissolved chains gave back.
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
  // Ends all requests of the model.
  void end_all(const std::string& model, Instant now);
  void remove_model(const std::string& model) { queues_.erase(model); }

  // Does what Desk::ask() does, but plans no further chains.
  [[nodiscard]] Result<> ask(AnswerRequest request, Instant now);
  void drop(RequestId id, Instant now);
  // Hands waiting requests to chains that have a place. The asker with the fewest requests under
  // way comes first.
  void hand_out(const std::string& model, Instant now);
  // Hands the requests that the chain answered before it was mended to it again. The chain is
  // ready.
  void resume(ChainId id, Instant now);
  // Puts the requests of a chain that is gone before all others that wait. A request that has lost
  // too many chains ends.
  void give_back(const Chain& chain, Instant now);
  // Ends the requests whose deadline has passed.
  void end_late(Instant now);
  // Ends the requests that have waited for longer than DeskSettings::patience. `trouble` returns
  // the reason why a model has no chain, or an empty string.
  void end_unserved(const std::function<std::string(const std::string& model)>& trouble,
                    Instant now);

  // Handles a message about an answer. Returns the chain if it is to be dissolved, because a member
  // sent invalid data or lost its device.
  [[nodiscard]] std::optional<ChainId> on(ServingId session,
                                          const protocol::serving::Tokens& message, Instant now);
  [[nodiscard]] std::optional<ChainId> on(ServingId session,
                                          const protocol::serving::Answered& message, Instant now);

  [[nodiscard]] bool empty() const { return requests_.empty(); }
  // The waiting requests of a model.
  struct Demand {
    std::size_t waiting = 0;
    std::optional<Instant> since{};  // The time since which the first request waits.
    bool wants_trusted = false;      // True if a waiting request is for trusted workers alone.
  };
  [[nodiscard]] Demand demand(const std::string& model) const;

  [[nodiscard]] std::string inconsistency() const;

 private:
  struct Request {
    AnswerRequest what;
    ChainId chain{};  // The chain that answers; none while the request waits.
    AnswerRecord record{};
    // The number of members of the chain that began the answer; 0 if no chain has begun it.
    std::uint32_t shards = 0;
    std::uint32_t resumed = 0;
    Instant since{};  // The time since which the request waits.
    Instant begun{};  // The time of the first turn; 0: not yet.
    std::optional<Instant> deadline{};
  };
  struct Queue {
    std::deque<RequestId> waiting{};
    Duration pace{};  // The mean time of an answer from its turn to its end; 0: unknown.
  };
  [[nodiscard]] std::deque<RequestId>::iterator next_of(
      const std::string& model, const std::function<bool(const Request&)>& can);
  // The best chain that has a place for the request; no chain if none has.
  [[nodiscard]] ChainId chain_for(const Request& request) const;
  // Makes room if all waiting places are taken: the asker takes the last place of the asker that
  // holds the most, if it holds fewer itself. A request whose answer has begun never loses its
  // place.
  [[nodiscard]] bool make_room(const std::string& model, std::uint64_t asker, Instant now);
  void ask_chain(RequestId id, ChainId chain, Instant now);
  // The time until a request that is asked now has its turn; no value if it is unknown.
  [[nodiscard]] std::optional<Duration> wait_of(const std::string& model) const;
  void end(RequestId id, std::string reason, Error error, Instant now);
  // The request that this worker answers in this epoch of its chain; null if there is none.
  [[nodiscard]] Request* request_of(ServingId session, RequestId id, std::uint32_t epoch);
  void count_work(Request& request, std::uint64_t tokens) const;

  DeskTables& tables_;
  std::map<std::string, Queue> queues_;  // Queues by model.
  std::map<RequestId, Request> requests_;
  Conversations conversations_;
};

}  // namespace weft::inference
