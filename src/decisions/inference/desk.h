// The serving of language models as decisions: the layers that each worker holds, the chains that
// workers form, the chain that answers a request, and the continuation of an answer whose worker is
// lost.
//
//   desk.join(session, key, offer, now);
//   desk.hear(session, message, now);
//   desk.left(session, now);
//   desk.ask(request, now);
//   desk.drop(id, now);
//   desk.tick(now);  // at next_deadline()
//
// A chain of one worker holds a whole model. After a loss the chain is mended: the lost layers go
// to another worker, all members are linked again, and each request continues after the tokens that
// it has. The desk hands events to its parts, each of which has one task and its own header
// (README.md). The tables that the parts share are desk_tables.h.
//
// Pure: no socket, clock or thread. Effects are carried out at once by DeskWorld, which must not
// call back. Bounds: DeskSettings. Every request ends with exactly one ended().
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/protocol/serving.h"
#include "decisions/inference/answer.h"
#include "decisions/inference/desk_requests.h"
#include "decisions/inference/desk_settings.h"
#include "decisions/inference/desk_world.h"
#include "decisions/inference/model_card.h"
#include "decisions/inference/serving_ids.h"
#include "decisions/inference/serving_views.h"
#include "decisions/inference/stage_trace.h"

namespace weft::inference {

class Desk {
 public:
  Desk(DeskWorld& world, DeskSettings settings);
  ~Desk();
  Desk(const Desk&) = delete;

  void put_model(const ModelCard& card, Instant now);
  void remove_model(const std::string& name, Instant now);

  void join(ServingId session, const PublicKey& key, const protocol::serving::Offer& offer,
            Instant now);
  void hear(ServingId session, const protocol::serving::ServingWorkerMessage& message, Instant now);
  void hop(ServingId session, ByteVector frame, Instant now);
  void left(ServingId session, Instant now);
  // Takes in the time of a ping from the coordinator to the worker and back.
  void measured(ServingId session, Duration round_trip, Instant now);

  // Asks for an answer. Fails with not_found for an unknown model, with resource_exhausted if too
  // many requests wait (the caller says when to come back), and with deadline_exceeded if its turn
  // would come too late, judged by the pace of earlier answers.
  [[nodiscard]] Result<> ask(AnswerRequest request, Instant now);
  void drop(RequestId request, Instant now);
  // True if a shadow request of this model would be answered at once.
  [[nodiscard]] bool has_room_for_shadow(const std::string& model) const;

  // Lets other workers audit an answer (answer_audits.h). Ends with one DeskWorld::audited().
  void audit(AuditRequest request, Instant now);
  // Searches for the guilty stage of a chain whose answer was refuted (stage_trace.h). Ends with
  // one DeskWorld::traced().
  void trace(TraceRequest request, Instant now);
  // Closes this worker's connections, so that it serves no more.
  void expel(const PublicKey& worker, const std::string& why, Instant now);

  void tick(Instant now);
  [[nodiscard]] std::optional<Instant> next_deadline() const;

  // The number of positions of a request of this model.
  [[nodiscard]] std::uint32_t context_of(const ModelCard& card) const;
  [[nodiscard]] std::vector<ServedModel> models() const;
  [[nodiscard]] std::vector<ServedWorker> workers() const;
  [[nodiscard]] std::vector<ServedChain> chains() const;
  [[nodiscard]] const ServingCounters& counters() const;
  // The first violated invariant between the tables, as a sentence; empty if all hold. It is meant
  // for tests, after every event, because it examines all tables.
  [[nodiscard]] std::string inconsistency() const;

 private:
  class Parts;
  const std::unique_ptr<Parts> parts_;
};

}  // namespace weft::inference
