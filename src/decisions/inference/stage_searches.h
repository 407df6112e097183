// Searches for the guilty stage of a refuted answer (stage_trace.h): its lines are opened, and
// auditors run the stages again, each as a member of a chain whose other members are the desk.
//
// Not for several threads. Bounds: DeskSettings::traces_max searches at a time; waiting_max with
// those that wait.
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

  // Ends with one DeskWorld::traced().
  void search(TraceRequest request, Instant now);
  // Begins searches that wait, and goes on with those that wait for a worker for too long.
  void look(Instant now);
  void end_on(ServingId worker, Instant now);

  // What workers say. True if it was about a search, so that it is for no other part of the desk.
  [[nodiscard]] bool loaded(ChainId chain, ServingId session);
  [[nodiscard]] bool linked(ServingId session, const protocol::serving::Linked& message);
  // The auditor failed: the next one is asked.
  [[nodiscard]] bool failed(ChainId chain, ServingId session, Instant now);
  [[nodiscard]] bool on(ServingId session, const protocol::serving::Answered& message, Instant now);
  void on(ServingId session, const protocol::serving::Reopened& message, Instant now);
  // A hop to the coordinator: an opened frame.
  void open_frame(ServingId session, const protocol::serving::HopFrame& hop);
  // A hop to another member of an auditor's chain: what its stage made.
  [[nodiscard]] bool take_replayed(ServingId session, const protocol::serving::HopFrame& hop,
                                   Instant now);

  // Searches that have this shard.
  [[nodiscard]] std::size_t holders_of(ShardId shard) const;
  [[nodiscard]] std::string inconsistency() const;

 private:
  struct Search {
    TraceRequest what;
    LineOpening opening;
    Instant since{};  // That it waits for what it waits for now.
    // The auditor that searches now, the stage that it runs, and what came out of it.
    ServingId worker = 0;  // 0: none.
    PublicKey auditor{};
    std::uint32_t stage = 0;
    ShardId shard{};
    ChainId chain{};
    std::uint32_t epoch = 0;
    protocol::serving::HopJoiner joiner{};
    StageRows rows{};        // The stage's that is run.
    StageOutput own{};       // What came out so far;
    StageOutput unshaken{};  // before, where the stage is run a second time (shaken()).
    bool shakes = false;
    std::vector<PublicKey> asked{};
    TraceEnd end{};

    [[nodiscard]] bool is_last_stage() const { return stage + 1 == what.pipeline.stages.size(); }
  };
  // The search whose auditor this is; null if there is none.
  [[nodiscard]] Search* find(ChainId chain, ServingId session);
  void open_lines(Search& search, Instant now);
  // All members have answered, or will not: the search continues with the frames that have come.
  void opened(Search& search, Instant now);
  void next_auditor(Search& search, Instant now);
  // The next stage of which both lines are there.
  void run_stage(Search& search, Instant now);
  void link_stage(Search& search);
  // The rows that came in, and a question after each position whose final state was asked for.
  void feed_stage(const Search& search) const;
  // Takes what an auditor's stage handed on. False if it is a fault.
  [[nodiscard]] bool take_output(Search& search, ByteSpan message) const;
  // Once all that can come is there.
  void judge_stage(Search& search, Instant now);
  void found(Search& search, const PublicKey& guilty, std::string why, Instant now);
  void leave_stage(Search& search);
  void end(Search& search);

  DeskTables& tables_;
  std::map<RequestId, Search> searches_;
};

}  // namespace weft::inference
