#include "apps/cli/settlement/credit_journal.h"

#include <array>
#include <charconv>
#include <optional>
#include <utility>

namespace weft::cli {
namespace {

using settlement::JournalRow;

std::optional<JournalRow> row_of(std::string_view line) {
  std::array<std::string_view, 4> words;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::size_t end = i == 3 ? std::string_view::npos : line.find(' ');
    words[i] = line.substr(0, end);
    line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
  }
  JournalRow out;
  if (words[0] != "open" && words[0] != "done") return std::nullopt;
  out.state = words[0] == "open" ? JournalRow::State::open : JournalRow::State::done;
  const auto owner = PublicKey::parse(words[1].substr(0, 64));
  const auto number = [](std::string_view text, std::uint64_t& to) {
    const auto read = std::from_chars(text.data(), text.data() + text.size(), to);
    return !text.empty() && read.ec == std::errc() && read.ptr == text.data() + text.size();
  };
  if (!owner || !number(words[2], out.crediting.from) || !number(words[3], out.crediting.to))
    return std::nullopt;
  out.crediting.owner = *owner;
  return out;
}

}  // namespace

Result<CreditJournal> CreditJournal::open(const std::filesystem::path& path, const Place& place) {
  WEFT_ASSIGN(JournalFile file,
              JournalFile::open(path, weft::format("weft-credits-1 {} {}", place.config.text(),
                                                   place.coordinator.text())));
  CreditJournal out(std::move(file));
  for (std::size_t line = 0; line < out.file_.lines().size(); ++line) {
    const auto row = row_of(out.file_.lines()[line]);
    if (!row) return std::unexpected(out.file_.no_row(line));
    out.rows_.push_back(*row);
  }
  return out;
}

Result<> CreditJournal::append(const JournalRow& row) {
  WEFT_OK(file_.append(
      weft::format("{} {} {} {}", row.state == JournalRow::State::open ? "open" : "done",
                   row.crediting.owner.text(), row.crediting.from, row.crediting.to)));
  rows_.push_back(row);
  return {};
}

}  // namespace weft::cli
