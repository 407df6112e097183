#include "decisions/settlement/epoch_rows.h"

#include <algorithm>
#include <map>

namespace weft::settlement {
namespace {

__extension__ using Wide = unsigned __int128;  // An extension of GCC and Clang.

struct Due {
  std::uint64_t before = 0;  // The amount in the owner's row, without emission.
  std::uint64_t settled = 0;
  std::uint64_t emission = 0;
  std::uint64_t units_before = 0;
  std::uint64_t units = 0;
  std::uint32_t index = 0;
  bool has_row = false;

  [[nodiscard]] std::uint64_t open() const { return settled - before; }
  [[nodiscard]] std::uint64_t worked() const { return has_row ? units - units_before : 0; }
};
using Dues = std::map<PublicKey, Due>;

Result<Dues> dues_of(std::span<const solana::Earned> previous, std::span<const Settled> settled) {
  Dues dues;
  for (const Settled& one : settled) {
    if (!dues.try_emplace(one.owner, Due{.settled = one.amount, .units = one.units}).second)
      return fail(ErrorCode::invalid_argument,
                  "The owner {} occurs twice in the list of settled amounts.", one.owner.text());
  }
  for (const solana::Earned& row : previous) {
    Due& due = dues[row.owner];
    if (due.has_row)
      return fail(ErrorCode::invalid_argument, "The owner {} has two rows.", row.owner.text());
    if (row.emission > row.amount)
      return fail(ErrorCode::invalid_argument,
                  "The row of {} has {} micro-credits, less than its emission of {}.",
                  row.owner.text(), row.amount, row.emission);
    due.before = row.amount - row.emission;
    if (due.settled < due.before)
      return fail(ErrorCode::data_loss,
                  "{} was given {} micro-credits and has settled {} in this ledger, which is an "
                  "older copy or another coordinator's.",
                  row.owner.text(), due.before, due.settled);
    due.emission = row.emission;
    due.units_before = row.units;
    due.units = std::max(due.units, row.units);
    due.index = row.index;
    due.has_row = true;
  }
  return dues;
}

// Shares all of `total` out in proportion to the weights. Each part is rounded down. The remainder
// goes in units of one to the parts with the largest fractions; among equal fractions, to the
// first. All parts are 0 if all weights are 0.
std::vector<std::uint64_t> shares(std::uint64_t total, std::span<const std::uint64_t> weights) {
  Wide all = 0;
  for (const std::uint64_t weight : weights) all += weight;
  std::vector<std::uint64_t> out(weights.size(), 0);
  if (all == 0 || total == 0) return out;
  struct Remainder {
    Wide rest;
    std::size_t at;
  };
  std::vector<Remainder> remainders;
  std::uint64_t left = total;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const Wide product = Wide{total} * weights[i];
    out[i] = static_cast<std::uint64_t>(product / all);
    left -= out[i];
    remainders.push_back({product % all, i});
  }
  std::ranges::stable_sort(remainders, std::greater(), &Remainder::rest);
  for (std::size_t i = 0; i < left; ++i) ++out[remainders[i].at];
  return out;
}

}  // namespace

Result<EpochRows> next_rows(std::span<const solana::Earned> previous,
                            std::span<const Settled> settled, const EpochFunds& funds) {
  WEFT_ASSIGN(const Dues dues, dues_of(previous, settled));
  Wide open = 0;
  std::uint32_t next_index = 0;
  std::vector<std::uint64_t> worked;
  for (const auto& [owner, due] : dues) {
    open += due.open();
    worked.push_back(due.worked());
    if (due.has_row) next_index = std::max(next_index, due.index + 1);
  }
  const bool all = open <= funds.available;
  const std::vector<std::uint64_t> emission = shares(funds.emission, worked);
  EpochRows out;
  Wide given = 0;
  std::size_t at = 0;
  for (const auto& [owner, due] : dues) {
    const std::uint64_t emitted = emission[at++];
    const auto part =
        all ? due.open() : static_cast<std::uint64_t>(Wide{due.open()} * funds.available / open);
    given += part;
    if (!due.has_row && part == 0) continue;
    if (!due.has_row && next_index >= solana::tree_owners_max)
      return fail(ErrorCode::resource_exhausted,
                  "The epoch has more owners than the {} for which it has room.",
                  solana::tree_owners_max);
    out.emitted += emitted;
    out.rows.push_back({.owner = owner,
                        .index = due.has_row ? due.index : next_index++,
                        .amount = due.before + part + due.emission + emitted,
                        .units = due.units,
                        .emission = due.emission + emitted});
  }
  out.given = static_cast<std::uint64_t>(given);
  out.waiting = static_cast<std::uint64_t>(open - given);
  return out;
}

std::uint64_t emission_of(const EmissionPlan& plan, std::uint64_t epoch) {
  const std::uint64_t halvings = epoch / plan.halving_epochs;
  const std::uint64_t planned = halvings < 64 ? plan.first >> halvings : 0;
  return std::min(planned, plan.left);
}

std::optional<std::string> emission_difference(std::span<const solana::Earned> previous,
                                               std::span<const solana::Earned> rows) {
  std::map<PublicKey, const solana::Earned*> before;
  for (const solana::Earned& row : previous) before.emplace(row.owner, &row);
  std::vector<std::uint64_t> worked, emitted;
  std::uint64_t all = 0;
  for (const solana::Earned& row : rows) {
    const auto found = before.find(row.owner);
    const solana::Earned* old = found == before.end() ? nullptr : found->second;
    const std::uint64_t old_emission = old == nullptr ? 0 : old->emission;
    if (row.emission < old_emission || (old != nullptr && row.units < old->units))
      return weft::format("{} has less emission or fewer units than before", row.owner.text());
    worked.push_back(old == nullptr ? 0 : row.units - old->units);
    emitted.push_back(row.emission - old_emission);
    all += emitted.back();
  }
  const std::vector<std::uint64_t> right = shares(all, worked);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (emitted[i] == right[i]) continue;
    return weft::format(
        "{} is given {} micro-credits of this epoch's emission of {}, its part by "
        "{} of the units is {}",
        rows[i].owner.text(), emitted[i], all, worked[i], right[i]);
  }
  return std::nullopt;
}

}  // namespace weft::settlement
