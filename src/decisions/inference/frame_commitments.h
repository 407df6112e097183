// What members of chains commit to: signed roots over their frames, which the two ends of a line
// must tell alike. Two ends that do not are kept apart, and their chain is formed again.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "common/base/clock.h"
#include "common/protocol/serving.h"
#include "decisions/inference/chain_keeper.h"
#include "decisions/inference/desk_tables.h"

namespace weft::inference {

class FrameCommitments {
 public:
  FrameCommitments(DeskTables& tables, ChainKeeper& keeper) : tables_(tables), keeper_(keeper) {}

  // False if the worker did not sign what it says.
  [[nodiscard]] bool on(ServingId session, const protocol::serving::Frames& message, Instant now);
  // Chains of which one end of a line does not tell in time.
  void look(Instant now);

 private:
  // The two ends of a line do not say the same of what went over it. Either may lie, or the line
  // between them: none is blamed, and a request continues elsewhere.
  void part_line(ChainId id, std::uint32_t line, std::string_view why, Instant now);

  DeskTables& tables_;
  ChainKeeper& keeper_;
};

}  // namespace weft::inference
