// What the members of a chain are told of each other, and the tokens of the direct lines between
// them.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/clock.h"
#include "common/protocol/serving.h"
#include "decisions/inference/desk_tables.h"

namespace weft::inference {

class ChainLinks {
 public:
  explicit ChainLinks(DeskTables& tables) : tables_(tables) {}

  // All members have their layers: each is told of the others, in a new epoch.
  void relink(ChainId id, Instant now);

 private:
  [[nodiscard]] protocol::serving::Link link_of(ChainId id, std::uint32_t index, Instant now) const;
  // The token of two members for one epoch: no other program can make it, and it opens nothing
  // else.
  [[nodiscard]] std::string token_of(ChainId id, std::uint32_t epoch, std::uint32_t a,
                                     std::uint32_t b) const;

  DeskTables& tables_;
};

}  // namespace weft::inference
