// Chains from their first load to their end: loaded, linked, mended after a loss, changed for a
// better one, dissolved.
//
// Not for several threads. What becomes of a chain's requests and of its model is not decided here:
// the ChainOwner is told, and may call back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/protocol/serving.h"
#include "decisions/inference/chain_links.h"
#include "decisions/inference/desk_tables.h"
#include "decisions/inference/placement.h"
#include "decisions/inference/standby.h"

namespace weft::inference {

class ChainOwner {
 public:
  virtual ~ChainOwner() = default;
  // It can answer; requests that it was answering before continue.
  virtual void ready(ChainId id, Instant now) = 0;
  // It is gone; its requests have no chain.
  virtual void dissolved(const Chain& chain, Instant now) = 0;
};

class ChainKeeper {
 public:
  ChainKeeper(DeskTables& tables, Standby& standby, ChainOwner& owner)
      : tables_(tables), standby_(standby), owner_(owner) {}

  // A chain of these workers loads the model. `trusted`: made for clients that ask for trusted
  // workers.
  void add(const std::string& model, const std::vector<Placed>& placed, bool trusted, Instant now);
  // From loading to linking to ready as far as it is time.
  void advance(ChainId id, Instant now);
  // Puts every lost part on another worker. If there is none, the chain ends.
  void mend(ChainId id, Instant now);
  // Members that stay as they are keep their layers; the others are loaded, and requests continue
  // after the tokens that they have.
  void change(ChainId id, const std::vector<Placed>& placed, Instant now);
  void dissolve(ChainId id, Instant now);
  // Dissolves chains that take too long to load or link, or draw nothing.
  void dissolve_stuck(Instant now);

  void on(ServingId session, const protocol::serving::Linked& message, Instant now);
  void on(ServingId session, const protocol::serving::Broken& message, Instant now);
  void on(ServingId session, const protocol::serving::Parted& message, Instant now);
  // Handed to the member that it is for.
  void on(ServingId session, const protocol::serving::Signal& message);

 private:
  void load(ChainId id, ChainMember& member);
  // Puts the layers of a lost member on another worker. False if there is none.
  [[nodiscard]] bool replace(ChainId id, ChainMember& member);

  DeskTables& tables_;
  Standby& standby_;
  ChainOwner& owner_;
  ChainLinks links_{tables_};
};

}  // namespace weft::inference
