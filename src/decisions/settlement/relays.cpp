#include "decisions/settlement/relays.h"

#include <algorithm>
#include <limits>

namespace weft::settlement {

namespace {
__extension__ using Wide = unsigned __int128;  // An extension of GCC and Clang.
}  // namespace

Result<Relays> Relays::restore(std::span<const RelayRow> journal) {
  Relays out;
  for (const RelayRow& row : journal) WEFT_OK(out.written(row));
  return out;
}

Result<> Relays::written(const RelayRow& row) {
  const auto found = open_.find(row.owner);
  if (row.state == RelayRow::State::sent) {
    if (found != open_.end())
      return fail(ErrorCode::data_loss,
                  "The journal begins a second relay for {} before the first one has ended.",
                  row.owner.text());
    open_.emplace(row.owner, row.signature);
    return {};
  }
  if (found == open_.end() || found->second != row.signature)
    return fail(ErrorCode::data_loss,
                "The journal ends the relay {} of {}, which it has not begun.",
                row.signature.text(), row.owner.text());
  if (row.state == RelayRow::State::done) {
    std::uint64_t& paid = paid_[row.owner];
    if (row.lamports > std::numeric_limits<std::uint64_t>::max() - paid)
      return fail(ErrorCode::data_loss,
                  "The relays of {} in the journal pay more lamports than 64 bits can hold.",
                  row.owner.text());
    paid += row.lamports;
  }
  open_.erase(found);
  return {};
}

std::vector<RelayRow> Relays::open() const {
  std::vector<RelayRow> out;
  for (const auto& [owner, signature] : open_)
    out.push_back({.state = RelayRow::State::sent, .owner = owner, .signature = signature});
  return out;
}

std::uint64_t Relays::lamports(const PublicKey& owner) const {
  const auto found = paid_.find(owner);
  return found == paid_.end() ? 0 : found->second;
}

std::uint64_t relay_units(std::uint64_t lamports, std::uint64_t units_a_sol) {
  constexpr Wide lamports_a_thousandth = 1000;  // 10^9 lamports a SOL, 10^6 millionths a unit.
  const Wide millionths =
      (Wide{lamports} * units_a_sol + lamports_a_thousandth - 1) / lamports_a_thousandth;
  return static_cast<std::uint64_t>(
      std::min(millionths, Wide{std::numeric_limits<std::uint64_t>::max()}));
}

void deduct_relays(std::span<Settled> settled, const Relays& relays, std::uint64_t units_a_sol) {
  for (Settled& one : settled)
    one.units -= std::min(one.units, relay_units(relays.lamports(one.owner), units_a_sol));
}

}  // namespace weft::settlement
