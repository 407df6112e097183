#include "decisions/settlement/charges.h"

#include "common/crypto/sha256.h"

namespace weft::settlement {

Hash key_of(const Crediting& crediting, const PublicKey& config) {
  ByteVector numbers;
  append_le(numbers, crediting.from);
  append_le(numbers, crediting.to);
  return crypto::Sha256()
      .update(as_bytes(std::string_view("weft-credit-1")))
      .update(config.span())
      .update(crediting.owner.span())
      .update(numbers)
      .finish();
}

Result<Charges> Charges::restore(std::span<const JournalRow> journal) {
  Charges out;
  for (const JournalRow& row : journal) WEFT_OK(out.written(row));
  return out;
}

std::optional<Crediting> Charges::seen(const PublicKey& owner, std::uint64_t charged) const {
  const auto found = owners_.find(owner);
  if (found != owners_.end() && found->second.open) return std::nullopt;
  const std::uint64_t before = found == owners_.end() ? 0 : found->second.credited;
  if (charged <= before) return std::nullopt;
  return Crediting{.owner = owner, .from = before, .to = charged};
}

Result<> Charges::written(const JournalRow& row) {
  Own& own = owners_[row.crediting.owner];
  const bool follows =
      row.state == JournalRow::State::open
          ? !own.open && row.crediting.from == own.credited && row.crediting.to > row.crediting.from
          : own.open == row.crediting;
  if (!follows)
    return fail(ErrorCode::data_loss,
                "The journal's row goes from {} to {} for {}, but the rows before it end at {} "
                "micro-credits{}.",
                row.crediting.from, row.crediting.to, row.crediting.owner.text(), own.credited,
                own.open ? " and an open row" : "");
  if (row.state == JournalRow::State::open) {
    own.open = row.crediting;
  } else {
    own.credited = row.crediting.to;
    own.open.reset();
  }
  return {};
}

std::vector<Crediting> Charges::open() const {
  std::vector<Crediting> out;
  for (const auto& [owner, own] : owners_)
    if (own.open) out.push_back(*own.open);
  return out;
}

std::uint64_t Charges::credited(const PublicKey& owner) const {
  const auto found = owners_.find(owner);
  return found == owners_.end() ? 0 : found->second.credited;
}

}  // namespace weft::settlement
