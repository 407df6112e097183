// The parts of the desk. This file decides which parts hear an event and in which order, and makes
// the decisions that concern several parts.
#pragma once

#include <string>

#include "decisions/inference/answer_audits.h"
#include "decisions/inference/chain_keeper.h"
#include "decisions/inference/chain_planning.h"
#include "decisions/inference/chain_review.h"
#include "decisions/inference/desk.h"
#include "decisions/inference/desk_tables.h"
#include "decisions/inference/frame_commitments.h"
#include "decisions/inference/request_queue.h"
#include "decisions/inference/stage_searches.h"
#include "decisions/inference/standby.h"
#include "decisions/inference/weighing_auditors.h"

namespace weft::inference {

class Desk::Parts final : private ChainOwner {
 public:
  Parts(DeskWorld& world, DeskSettings settings) : tables(world, std::move(settings)) {}

  // Removes a worker that is gone: its chains are mended, and its audits end.
  void lose_worker(ServingId session, Instant now);
  // Closes the worker's connection and removes the worker.
  void close(ServingId session, const std::string& why, Instant now);
  void lose_silent(Instant now);
  // Dissolves the chains and standby shards of the model. Its requests stay.
  void stop_serving(const std::string& model, Instant now);

  // The messages of connected workers, one function for each kind.
  void on(ServingId, const protocol::serving::Offer&, Instant) {}
  void on(ServingId session, const protocol::serving::Loaded& message, Instant now);
  void on(ServingId session, const protocol::serving::Unloaded& message, Instant now);
  void on(ServingId session, const protocol::serving::Linked& message, Instant now);
  void on(ServingId session, const protocol::serving::Broken& message, Instant now);
  void on(ServingId session, const protocol::serving::Parted& message, Instant now);
  void on(ServingId session, const protocol::serving::Signal& message, Instant now);
  void on(ServingId session, const protocol::serving::Frames& message, Instant now);
  void on(ServingId session, const protocol::serving::Reopened& message, Instant now);
  void on(ServingId session, const protocol::serving::Pulse& message, Instant now);
  void on(ServingId session, const protocol::serving::Tokens& message, Instant now);
  void on(ServingId session, const protocol::serving::Answered& message, Instant now);
  void on_hop(ServingId session, ByteVector frame, Instant now);

  [[nodiscard]] std::string inconsistency() const;

  DeskTables tables;
  Standby standby{tables};
  RequestQueue requests{tables};
  ChainKeeper keeper{tables, standby, *this};
  ChainPlanning planning{tables, keeper, requests};
  ChainReview review{tables, keeper};
  FrameCommitments commitments{tables, keeper};
  WeighingAuditors weighing{tables};
  AnswerAudits audits{tables, weighing};
  StageSearches searches{tables};

 private:
  void ready(ChainId id, Instant now) override;
  void dissolved(const Chain& chain, Instant now) override;
  // Checks that each shard belongs to exactly one chain, audit or search, or stands by.
  [[nodiscard]] std::string inconsistency_of_owners() const;
};

}  // namespace weft::inference
