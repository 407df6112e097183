// This worker's places in chains, at most one place in each chain. A place that is given up ends
// when the running call of its engine has ended; only then may a new place in the same chain begin.
//
// Threading: the host's thread. Lifetime: may be destroyed at any time; callbacks that wait for an
// end are then not called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "common/protocol/serving.h"
#include "worker/inference/chain_member.h"

namespace weft::worker {

class ChainMemberships {
 public:
  using Members = std::map<std::uint32_t, std::shared_ptr<ChainMember>>;

  // Returns all memberships, keyed by the chain's number.
  [[nodiscard]] const Members& all() const { return members_; }
  // Returns null if this worker has no place in that epoch of the chain.
  [[nodiscard]] std::shared_ptr<ChainMember> find(std::uint32_t chain, std::uint32_t epoch) const;
  // Returns the chain that uses a shard.
  [[nodiscard]] std::optional<std::uint32_t> chain_of(std::uint32_t shard) const;
  [[nodiscard]] std::uint32_t running() const;  // Returns the number of running requests.

  // want() stores the last epoch for which a place was ordered; unwant() withdraws the order.
  void want(std::uint32_t chain, std::uint32_t epoch) { wanted_[chain] = epoch; }
  void unwant(std::uint32_t chain) { wanted_.erase(chain); }
  [[nodiscard]] bool wants(std::uint32_t chain, std::uint32_t epoch) const;

  void put(std::uint32_t chain, std::shared_ptr<ChainMember> member) {
    members_[chain] = std::move(member);
  }
  // Gives up the place in the chain. `done` is called when the place's engine is free, or at once
  // if there is no place. If end() is called again for the chain before that, the new `done`
  // replaces the old one.
  void end(std::uint32_t chain, std::function<void()> done);

 private:
  using Ending = std::map<std::uint32_t, std::function<void()>>;
  Members members_;
  std::map<std::uint32_t, std::uint32_t> wanted_;
  // The callbacks that wait for an end, by chain.
  std::shared_ptr<Ending> ending_ = std::make_shared<Ending>();
};

}  // namespace weft::worker
