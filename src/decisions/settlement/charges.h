// What vouchers charge on the chain becomes credits in the ledger, each once, whatever is lost,
// doubled or late on the way and whenever a process ends. What is deposited and not charged can be
// withdrawn without the ledger, and is no credit.
//
// An escrow on the chain has one number for all that was ever charged of it. A crediting takes the
// ledger from one such number to the next. It is written into a journal before anything is
// asked of the ledger, and the ledger is asked with a key that follows from it alone: asked again,
// the ledger moves nothing. Only one crediting of an owner is open at a time, so each begins where
// the one before ended.
//
// Pure: the wiring reads escrows that the cluster has finally agreed on (finalized: a fork can
// take nothing back of them), keeps the journal and asks the ledger. Threading: one thread. Memory:
// a row for each owner that was ever charged.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"

namespace weft::settlement {

struct Crediting {
  PublicKey owner;
  std::uint64_t from = 0;  // Micro-credits since the start.
  std::uint64_t to = 0;

  [[nodiscard]] std::uint64_t amount() const { return to - from; }
  friend bool operator==(const Crediting&, const Crediting&) = default;
};
// SHA-256("weft-credit-1" || config || owner || u64 from || u64 to): the ledger moves credits once
// for each.
[[nodiscard]] Hash key_of(const Crediting& crediting, const PublicKey& config);

struct JournalRow {
  enum class State : std::uint8_t { open, done };
  State state = State::open;
  Crediting crediting;
  friend bool operator==(const JournalRow&, const JournalRow&) = default;
};

class Charges {
 public:
  // The journal from its start; data_loss if a row does not follow from those before it.
  [[nodiscard]] static Result<Charges> restore(std::span<const JournalRow> journal);

  // What an escrow finally holds. Gives what to write into the journal as open, and then to ask of
  // the ledger; nullopt if nothing is new or the owner's last one is still open.
  [[nodiscard]] std::optional<Crediting> seen(const PublicKey& owner, std::uint64_t charged) const;
  // A row that was written; data_loss if it does not follow.
  [[nodiscard]] Result<> written(const JournalRow& row);

  // In order of their owners: what to ask of the ledger, again or for the first time.
  [[nodiscard]] std::vector<Crediting> open() const;
  // What the ledger has given the owner for its charges.
  [[nodiscard]] std::uint64_t credited(const PublicKey& owner) const;

 private:
  struct Own {
    std::uint64_t credited = 0;
    std::optional<Crediting> open;
  };
  std::map<PublicKey, Own> owners_;
};

}  // namespace weft::settlement
