// Keeps chains from their first load to their end: they are loaded, linked, mended after a loss,
// changed to a better one, and dissolved.
//
// Not for several threads. This class does not decide about a chain's requests and its model: it
// tells the ChainOwner, which may call back.
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
  // The chain can answer. Requests that it was answering before it was linked again continue.
  virtual void ready(ChainId id, Instant now) = 0;
  // The chain no longer exists, so that its requests need another chain.
  virtual void dissolved(const Chain& chain, Instant now) = 0;
};

class ChainKeeper {
 public:
  ChainKeeper(DeskTables& tables, Standby& standby, ChainOwner& owner)
      : tables_(tables), standby_(standby), owner_(owner) {}

  // Makes a chain of the placed workers, which load the model. `trusted` is true if the chain is
  // made for clients that ask for trusted workers.
  void add(const std::string& model, const std::vector<Placed>& placed, bool trusted, Instant now);
  // Moves the chain from loading to linking and from linking to ready, if all its members have done
  // their part.
  void advance(ChainId id, Instant now);
  // Puts the layers of every lost member on another worker. Dissolves the chain if no worker has
  // room.
  void mend(ChainId id, Instant now);
  // Changes the chain's members. Members that stay as they are keep their layers; new members load
  // theirs. Requests continue after the tokens that they have.
  void change(ChainId id, const std::vector<Placed>& placed, Instant now);
  void dissolve(ChainId id, Instant now);
  // Dissolves chains that take too long to load or to link, or that draw no tokens.
  void dissolve_stuck(Instant now);

  void on(ServingId session, const protocol::serving::Linked& message, Instant now);
  void on(ServingId session, const protocol::serving::Broken& message, Instant now);
  void on(ServingId session, const protocol::serving::Parted& message, Instant now);
  // Passes the signal on to the member that it is for.
  void on(ServingId session, const protocol::serving::Signal& message);

 private:
  void load(ChainId id, ChainMember& member);
  // Puts the layers of a lost member on another worker. Returns false if no worker has room.
  [[nodiscard]] bool replace(ChainId id, ChainMember& member);

  DeskTables& tables_;
  Standby& standby_;
  ChainOwner& owner_;
  ChainLinks links_{tables_};
};

}  // namespace weft::inference
