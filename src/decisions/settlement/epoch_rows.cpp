#include "decisions/settlement/epoch_rows.h"

#include <algorithm>
#include <map>

namespace weft::settlement {
namespace {

__extension__ using Wide = unsigned __int128;  // Both compilers have it.

struct Due {
  std::uint64_t before = 0;  // By its row.
  std::uint64_t settled = 0;
  std::uint32_t index = 0;
  bool has_row = false;

  [[nodiscard]] std::uint64_t open() const { return settled - before; }
};
using Dues = std::map<PublicKey, Due>;

Result<Dues> dues_of(std::span<const solana::Earned> previous, std::span<const Settled> settled) {
  Dues dues;
  for (const Settled& one : settled) {
    if (!dues.try_emplace(one.owner, Due{.settled = one.amount}).second)
      return fail(ErrorCode::invalid_argument, "The owner {} has settled twice in one list.",
                  one.owner.text());
  }
  for (const solana::Earned& row : previous) {
    Due& due = dues[row.owner];
    if (due.has_row)
      return fail(ErrorCode::invalid_argument, "The owner {} has two rows.", row.owner.text());
    if (row.units != row.amount)
      return fail(ErrorCode::invalid_argument,
                  "The row of {} gives {} micro-credits for {} units: these rows were not made "
                  "from a ledger.",
                  row.owner.text(), row.amount, row.units);
    if (due.settled < row.amount)
      return fail(ErrorCode::data_loss,
                  "{} was given {} micro-credits and has settled {} in this ledger, which is an "
                  "older copy or another coordinator's.",
                  row.owner.text(), row.amount, due.settled);
    due.before = row.amount;
    due.index = row.index;
    due.has_row = true;
  }
  return dues;
}

}  // namespace

Result<EpochRows> next_rows(std::span<const solana::Earned> previous,
                            std::span<const Settled> settled, std::uint64_t available) {
  WEFT_ASSIGN(Dues dues, dues_of(previous, settled));
  Wide open = 0;
  std::uint32_t next_index = 0;
  for (const auto& [owner, due] : dues) {
    open += due.open();
    if (due.has_row) next_index = std::max(next_index, due.index + 1);
  }
  const bool all = open <= available;
  EpochRows out;
  Wide given = 0;
  for (const auto& [owner, due] : dues) {
    const auto part =
        all ? due.open() : static_cast<std::uint64_t>(Wide{due.open()} * available / open);
    given += part;
    if (!due.has_row && part == 0) continue;
    if (!due.has_row && next_index >= solana::tree_owners_max)
      return fail(ErrorCode::resource_exhausted, "An epoch has room for {} owners.",
                  solana::tree_owners_max);
    out.rows.push_back({.owner = owner,
                        .index = due.has_row ? due.index : next_index++,
                        .amount = due.before + part,
                        .units = due.before + part});
  }
  out.given = static_cast<std::uint64_t>(given);
  out.waiting = static_cast<std::uint64_t>(open - given);
  return out;
}

}  // namespace weft::settlement
