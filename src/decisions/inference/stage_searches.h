// Searches for the guilty stage of a refuted answer (stage_trace.h). The frames of its chain's
// lines are opened, and auditors run the stages again. For an auditor the desk plays all other
// members of the chain.
//
// Not for several threads. Bounds: at most DeskSettings::traces_max searches run at a time, and
// waiting_max run or wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/protocol/hops.h"
#include "common/protocol/serving.h"
#include "decisions/inference/desk_tables.h"
#include "decisions/inference/line_opening.h"
#include "decisions/inference/stage_trace.h"

namespace weft::inference {

class StageSearches {
 public:
  static constexpr std::size_t waiting_max = 64;

  explicit StageSearches(DeskTables& tables) : tables_(tables) {}

  // Begins a search, which ends with one call of DeskWorld::traced().
  void search(TraceRequest request, Instant now);
  // Begins searches that wait, and moves on searches that have waited for a worker for too long.
  void look(Instant now);
  void end_on(ServingId worker, Instant now);

  // These functions handle messages of workers. Each returns true if the message was about a
  // search, so that no other part of the desk handles it.
  [[nodiscard]] bool loaded(ChainId chain, ServingId session);
  [[nodiscard]] bool linked(ServingId session, const protocol::serving::Linked& message);
  // Call it when an auditor has failed: the search asks the next one.
  [[nodiscard]] bool failed(ChainId chain, ServingId session, Instant now);
  [[nodiscard]] bool on(ServingId session, const protocol::serving::Answered& message, Instant now);
  void on(ServingId session, const protocol::serving::Reopened& message, Instant now);
  // Takes in a hop to the coordinator: a part of an opened frame.
  void open_frame(ServingId session, const protocol::serving::HopFrame& hop);
  // Takes in a hop from an auditor to another member of its chain: output of the stage that the
  // auditor runs.
  [[nodiscard]] bool take_replayed(ServingId session, const protocol::serving::HopFrame& hop,
                                   Instant now);

  // The number of searches that have this shard.
  [[nodiscard]] std::size_t holders_of(ShardId shard) const;
  [[nodiscard]] std::string inconsistency() const;

 private:
  struct Search {
    TraceRequest what;
    LineOpening opening;
    Instant since{};  // The time at which the present step began.
    // These fields describe the auditor that searches now, and the stage that it runs.
    ServingId worker = 0;  // The auditor's connection; 0 if there is none.
    PublicKey auditor{};
    std::uint32_t stage = 0;
    ShardId shard{};
    ChainId chain{};
    std::uint32_t epoch = 0;
    protocol::serving::HopJoiner joiner{};
    StageRows rows{};   // The rows of the stage that is run.
    StageOutput own{};  // The output of the auditor's run so far.
    // The output of the first run, if the stage is run again with shaken() rows.
    StageOutput unshaken{};
    bool shakes = false;
    std::vector<PublicKey> asked{};
    TraceEnd end{};

    [[nodiscard]] bool is_last_stage() const { return stage + 1 == what.pipeline.stages.size(); }
  };
  // The search for which this worker audits; null if there is none.
  [[nodiscard]] Search* find(ChainId chain, ServingId session);
  void open_lines(Search& search, Instant now);
  // Continues the search with the frames that have arrived, when all members have answered or their
  // time is over.
  void opened(Search& search, Instant now);
  void next_auditor(Search& search, Instant now);
  // Runs the next stage of which both lines are known.
  void run_stage(Search& search, Instant now);
  void link_stage(Search& search);
  // Sends the auditor the stage's input rows, and asks for the final state at each position at
  // which the chain was asked for it.
  void feed_stage(const Search& search) const;
  // Takes in an output of the auditor's stage. Returns false if the auditor reports a fault.
  [[nodiscard]] bool take_output(Search& search, ByteSpan message) const;
  // Judges the stage when its whole output has arrived.
  void judge_stage(Search& search, Instant now);
  void found(Search& search, const PublicKey& guilty, std::string why, Instant now);
  void leave_stage(Search& search);
  void end(Search& search);

  DeskTables& tables_;
  std::map<RequestId, Search> searches_;
};

}  // namespace weft::inference
