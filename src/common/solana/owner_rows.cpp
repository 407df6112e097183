#include "common/solana/owner_rows.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace weft::solana {
namespace {

constexpr std::string_view rows_head = "owner,index,amount,units";
constexpr std::string_view emission_rows_head = "owner,index,amount,units,emission";

// Removes the text up to the next `end` from `text` and returns it without `end`, or all of the
// text if it has no `end`.
std::string_view take_until(std::string_view& text, char end) {
  const std::size_t at = text.find(end);
  const std::string_view out = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return out;
}

template <class Integer>
bool read_decimal(std::string_view text, Integer& out) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
  return !text.empty() && read.ec == std::errc() && read.ptr == text.data() + text.size();
}

std::string side(const Earned& row) {
  std::string out =
      weft::format("index {}, {} micro-credits, {} units", row.index, row.amount, row.units);
  if (row.emission > 0) out += weft::format(", {} of emission", row.emission);
  return out;
}
bool same_row(const Earned& a, const Earned& b) {
  return a.index == b.index && a.amount == b.amount && a.units == b.units &&
         a.emission == b.emission;
}

}  // namespace

std::string owner_rows_text(std::span<const Earned> rows) {
  const bool emits = std::ranges::any_of(rows, [](const Earned& row) { return row.emission > 0; });
  std::string out(emits ? emission_rows_head : rows_head);
  out += '\n';
  for (const Earned& row : rows) {
    out += weft::format("{},{},{},{}", row.owner.text(), row.index, row.amount, row.units);
    if (emits) out += weft::format(",{}", row.emission);
    out += '\n';
  }
  return out;
}

Result<std::vector<Earned>> parse_owner_rows(std::string_view text) {
  const std::string_view head = take_until(text, '\n');
  const bool emits = head == emission_rows_head;
  if (!emits && head != rows_head)
    return fail(ErrorCode::invalid_argument, "The first line of an epoch's rows is not \"{}\".",
                emission_rows_head);
  std::vector<Earned> out;
  for (std::size_t line = 2; !text.empty(); ++line) {
    if (out.size() == tree_owners_max)
      return fail(ErrorCode::invalid_argument, "The epoch has more than {} owners.",
                  tree_owners_max);
    std::string_view rest = take_until(text, '\n');
    std::array<std::string_view, 4> words;
    for (std::string_view& word : std::span(words).first(emits ? 4 : 3))
      word = take_until(rest, ',');
    std::string_view& units = emits ? words[3] : rest;
    const auto owner = PublicKey::parse(words[0].substr(0, 64));
    Earned row;
    if (!owner || !read_decimal(words[1], row.index) || !read_decimal(words[2], row.amount) ||
        !read_decimal(units, row.units) || (emits && !read_decimal(rest, row.emission)) ||
        row.emission > row.amount)
      return fail(ErrorCode::invalid_argument,
                  "Line {} of the epoch's rows is not KEY,INDEX,AMOUNT,UNITS{}.", line,
                  emits ? ",EMISSION" : "");
    row.owner = *owner;
    out.push_back(row);
  }
  return out;
}

std::optional<std::string> first_difference(std::span<const Earned> here,
                                            std::span<const Earned> there) {
  std::size_t i = 0;
  for (; i < here.size() && i < there.size(); ++i) {
    const Earned &a = here[i], &b = there[i];
    if (a.owner == b.owner && same_row(a, b)) continue;
    if (a.owner == b.owner)
      return weft::format("{} has {} here and {} there", a.owner.text(), side(a), side(b));
    return a.owner < b.owner ? weft::format("{} is only here ({})", a.owner.text(), side(a))
                             : weft::format("{} is only there ({})", b.owner.text(), side(b));
  }
  if (i < here.size())
    return weft::format("{} is only here ({})", here[i].owner.text(), side(here[i]));
  if (i < there.size())
    return weft::format("{} is only there ({})", there[i].owner.text(), side(there[i]));
  return std::nullopt;
}

std::optional<PublicKey> first_provable_loss(std::span<const Earned> before,
                                             std::span<const Earned> after) {
  std::size_t at = 0;
  for (const Earned& old : before) {
    while (at < after.size() && after[at].owner < old.owner) ++at;
    if (at == after.size() || after[at].owner != old.owner) {
      if (old.amount > 0) return old.owner;
      continue;
    }
    const Earned& now = after[at];
    if (now.index != old.index || now.amount < old.amount || now.units < old.units)
      return old.owner;
  }
  return std::nullopt;
}

std::optional<std::string> first_loss(std::span<const Earned> before,
                                      std::span<const Earned> after) {
  std::size_t at = 0;
  for (const Earned& old : before) {
    while (at < after.size() && after[at].owner < old.owner) ++at;
    if (at == after.size() || after[at].owner != old.owner)
      return weft::format("{} had {} and is gone", old.owner.text(), side(old));
    const Earned& now = after[at];
    if (now.index != old.index || now.amount < old.amount || now.units < old.units ||
        now.emission < old.emission)
      return weft::format("{} had {} and now has {}", old.owner.text(), side(old), side(now));
  }
  return std::nullopt;
}

}  // namespace weft::solana
