// Commitments of members of chains: signed roots over their frames. The two ends of a line must
// report equal roots; otherwise the two workers are separated and their chain is formed again.
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

  // Takes in a root. Returns false if the worker's signature is wrong.
  [[nodiscard]] bool on(ServingId session, const protocol::serving::Frames& message, Instant now);
  // Forms a chain again if one end of a line does not report in time.
  void look(Instant now);

 private:
  // Separates the two ends of a line that report different roots. Either end may lie, or the line
  // may be faulty. Therefore no worker is blamed, and the requests continue on another chain.
  void part_line(ChainId id, std::uint32_t line, std::string_view why, Instant now);

  DeskTables& tables_;
  ChainKeeper& keeper_;
};

}  // namespace weft::inference
