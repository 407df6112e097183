// Claims that the coordinator relays for owners: what they cost it is taken off their compute
// units, by which emission is shared, once for each transaction that landed. Money of owners is not
// touched: a claim pays all that the root gives.
//
// A relay is written down before its transaction is sent, with the transaction's signature, and
// counts when the cluster has finally agreed on the transaction, with the fee that it paid,
// whether the claim went through or was refused. One that can no longer land costs nothing.
//
// Pure. The bridge keeps the journal and asks the chain. Threading: one thread. Memory: a row for
// each owner, and one for each relay that is under way.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "decisions/settlement/epoch_rows.h"

namespace weft::settlement {

struct RelayRow {
  enum class State : std::uint8_t { sent, done, expired };
  State state = State::sent;
  PublicKey owner;
  Signature signature;
  std::uint64_t lamports = 0;  // done: the fee.
  friend bool operator==(const RelayRow&, const RelayRow&) = default;
};

class Relays {
 public:
  // The journal from its start; data_loss if a row does not follow from those before it.
  [[nodiscard]] static Result<Relays> restore(std::span<const RelayRow> journal);
  // A row that was written: `sent` if nothing of the owner is under way, the others for what is;
  // data_loss if it does not follow.
  [[nodiscard]] Result<> written(const RelayRow& row);

  // What was sent and is neither done nor expired, in order of their owners: one at most for each.
  [[nodiscard]] std::vector<RelayRow> open() const;
  [[nodiscard]] bool is_under_way(const PublicKey& owner) const { return open_.contains(owner); }
  // What relays of the owner have paid in fees since the start.
  [[nodiscard]] std::uint64_t lamports(const PublicKey& owner) const;

 private:
  std::map<PublicKey, Signature> open_;
  std::map<PublicKey, std::uint64_t> paid_;
};

// What the fees are in millionths of a unit, rounded up, at so many units for a SOL (10^9
// lamports).
[[nodiscard]] std::uint64_t relay_units(std::uint64_t lamports, std::uint64_t units_a_sol);

// Takes the cost of relays off the units of each: to nothing at least. Units never fall in the
// rows, so that what an owner's new work does not cover is made up for by later work
// (epoch_rows.h).
void deduct_relays(std::span<Settled> settled, const Relays& relays, std::uint64_t units_a_sol);

}  // namespace weft::settlement
