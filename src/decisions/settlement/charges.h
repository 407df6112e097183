// Charges of vouchers on the chain become credits in the ledger. Each charge is credited once,
// whatever is lost, duplicated or late on the way and whenever a process ends. A deposit that is
// not charged can be withdrawn without the ledger, and is no credit.
//
// An escrow on the chain holds one number: the sum of everything that was ever charged to it. A
// crediting takes the ledger from one such sum to the next. The crediting is written into a journal
// before the ledger is asked, and the ledger is asked with a key that follows from the crediting
// alone, so that a repeated question moves no credits. An owner has only one open crediting at a
// time, so each crediting begins where the previous one ended.
//
// Pure: the wiring reads escrows that the cluster has finally agreed on (finalized: no fork can
// take a charge back), keeps the journal and asks the ledger. Threading: one thread. Memory: a row
// for each owner that was ever charged.
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
  std::uint64_t from = 0;  // The micro-credits charged since the start, before this crediting.
  std::uint64_t to = 0;

  [[nodiscard]] std::uint64_t amount() const { return to - from; }
  friend bool operator==(const Crediting&, const Crediting&) = default;
};
// SHA-256("weft-credit-1" || config || owner || u64 from || u64 to): the ledger moves credits once
// for each such key.
[[nodiscard]] Hash key_of(const Crediting& crediting, const PublicKey& config);

struct JournalRow {
  enum class State : std::uint8_t { open, done };
  State state = State::open;
  Crediting crediting;
  friend bool operator==(const JournalRow&, const JournalRow&) = default;
};

class Charges {
 public:
  // Restores from the whole journal. Fails with data_loss if a row does not follow from the rows
  // before it.
  [[nodiscard]] static Result<Charges> restore(std::span<const JournalRow> journal);

  // Call it with the charges of an escrow that the chain finally holds. Returns the crediting to
  // write into the journal as open, and then to ask of the ledger; nullopt if nothing is new or the
  // owner's last crediting is still open.
  [[nodiscard]] std::optional<Crediting> seen(const PublicKey& owner, std::uint64_t charged) const;
  // Call it after a row was written to the journal. Fails with data_loss if the row does not follow
  // from the rows before it.
  [[nodiscard]] Result<> written(const JournalRow& row);

  // The open creditings, in the order of owners. The ledger has to be asked for each of them, again
  // or for the first time.
  [[nodiscard]] std::vector<Crediting> open() const;
  // The amount that the ledger has credited to the owner for its charges.
  [[nodiscard]] std::uint64_t credited(const PublicKey& owner) const;

 private:
  struct Own {
    std::uint64_t credited = 0;
    std::optional<Crediting> open;
  };
  std::map<PublicKey, Own> owners_;
};

}  // namespace weft::settlement
