// Claims that the coordinator relays for owners. Their cost is taken off the owners' compute units,
// by which emission is shared, once for each transaction that landed. The owners' money is not
// touched: a claim pays all that the root gives.
//
// A relay is written down before its transaction is sent, with the transaction's signature. It
// counts when the cluster has finally agreed on the transaction, with the fee that it paid, whether
// the claim succeeded or was refused. A transaction that can no longer land costs nothing.
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
  std::uint64_t lamports = 0;  // The fee, if the state is `done`.
  friend bool operator==(const RelayRow&, const RelayRow&) = default;
};

class Relays {
 public:
  // Restores from the whole journal. Fails with data_loss if a row does not follow from those
  // before it.
  [[nodiscard]] static Result<Relays> restore(std::span<const RelayRow> journal);
  // Call it after a row was written to the journal. The row is `sent` if no relay of the owner is
  // under way; otherwise it has a later state of that relay. Fails with data_loss if the row cannot
  // follow the rows before it.
  [[nodiscard]] Result<> written(const RelayRow& row);

  // The relays that are sent and neither done nor expired, in the order of owners; at most one for
  // each owner.
  [[nodiscard]] std::vector<RelayRow> open() const;
  [[nodiscard]] bool is_under_way(const PublicKey& owner) const { return open_.contains(owner); }
  // The fees that relays of the owner have paid since the start.
  [[nodiscard]] std::uint64_t lamports(const PublicKey& owner) const;

 private:
  std::map<PublicKey, Signature> open_;
  std::map<PublicKey, std::uint64_t> paid_;
};

// The fees in millionths of a unit, rounded up, at `units_a_sol` units for a SOL (10^9 lamports).
[[nodiscard]] std::uint64_t relay_units(std::uint64_t lamports, std::uint64_t units_a_sol);

// Takes the cost of relays off each owner's units, down to 0. Units never fall in the rows, so a
// cost that an owner's new work does not cover is made up for by its later work (epoch_rows.h).
void deduct_relays(std::span<Settled> settled, const Relays& relays, std::uint64_t units_a_sol);

}  // namespace weft::settlement
