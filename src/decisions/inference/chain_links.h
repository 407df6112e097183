// Links the members of a chain: tells them of each other, with tokens for the direct lines between
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

  // Tells each member about all other members, in a new epoch. All members must have their layers.
  void relink(ChainId id, Instant now);

 private:
  [[nodiscard]] protocol::serving::Link link_of(ChainId id, std::uint32_t index, Instant now) const;
  // Returns the token of the line between two members for one epoch. Only this coordinator can make
  // the token, and it is valid for no other line.
  [[nodiscard]] std::string token_of(ChainId id, std::uint32_t epoch, std::uint32_t a,
                                     std::uint32_t b) const;

  DeskTables& tables_;
};

}  // namespace weft::inference
