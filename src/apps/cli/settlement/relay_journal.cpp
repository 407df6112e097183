#include "apps/cli/settlement/relay_journal.h"

#include <charconv>
#include <optional>

#include "apps/cli/files.h"

namespace weft::cli {
namespace {

using settlement::RelayRow;

constexpr std::string_view head_word = "weft-relays-1";

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> out;
  for (;;) {
    const std::size_t end = line.find(' ');
    out.push_back(line.substr(0, end));
    if (end == std::string_view::npos) return out;
    line.remove_prefix(end + 1);
  }
}
bool read_number(std::string_view text, std::uint64_t& to) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), to);
  return !text.empty() && read.ec == std::errc() && read.ptr == text.data() + text.size();
}

struct Line {
  RelayRow row;
  chain::SignedTransaction transaction;  // Set only in `sent` rows.
};
std::optional<Line> line_of(std::string_view text) {
  const auto words = words_of(text);
  if (words.size() < 3) return std::nullopt;
  Line out;
  const auto owner = PublicKey::parse(words[1]);
  const auto signature = Signature::parse(words[2]);
  if (!owner || !signature) return std::nullopt;
  out.row.owner = *owner;
  out.row.signature = *signature;
  if (words[0] == "sent" && words.size() == 5) {
    const auto bytes = from_base64(words[4]);
    if (!bytes || !read_number(words[3], out.transaction.last_valid_height)) return std::nullopt;
    out.transaction.bytes = *bytes;
    out.transaction.signature = *signature;
  } else if (words[0] == "done" && words.size() == 4) {
    out.row.state = RelayRow::State::done;
    if (!read_number(words[3], out.row.lamports)) return std::nullopt;
  } else if (words[0] == "expired" && words.size() == 3) {
    out.row.state = RelayRow::State::expired;
  } else {
    return std::nullopt;
  }
  return out;
}

std::string head_of(const RelayJournal::Place& place) {
  return weft::format("{} {} {}", head_word, place.config.text(), place.units_a_sol);
}

}  // namespace

Result<RelayJournal> RelayJournal::open(const std::filesystem::path& path, const Place& place) {
  WEFT_ASSIGN(JournalFile file, JournalFile::open(path, head_of(place)));
  RelayJournal out(std::move(file));
  for (std::size_t i = 0; i < out.file_.lines().size(); ++i) {
    const auto line = line_of(out.file_.lines()[i]);
    if (!line) return std::unexpected(out.file_.no_row(i));
    WEFT_OK(out.relays_.written(line->row));
    if (line->row.state == RelayRow::State::sent)
      out.transactions_.insert_or_assign(line->row.signature, line->transaction);
    else
      out.transactions_.erase(line->row.signature);
  }
  return out;
}

Result<> RelayJournal::sent(const PublicKey& owner, const chain::SignedTransaction& transaction) {
  WEFT_OK(file_.append(weft::format("sent {} {} {} {}", owner.text(), transaction.signature.text(),
                                    transaction.last_valid_height, to_base64(transaction.bytes))));
  transactions_.insert_or_assign(transaction.signature, transaction);
  return relays_.written({.owner = owner, .signature = transaction.signature});
}

Result<> RelayJournal::ended(const RelayRow& row) {
  WEFT_OK(file_.append(
      row.state == RelayRow::State::done
          ? weft::format("done {} {} {}", row.owner.text(), row.signature.text(), row.lamports)
          : weft::format("expired {} {}", row.owner.text(), row.signature.text())));
  transactions_.erase(row.signature);
  return relays_.written(row);
}

Result<PublishedRelays> read_relays(const std::filesystem::path& path) {
  WEFT_ASSIGN(const ByteVector bytes, read_file(path));
  std::string_view rest = as_text(bytes);
  const auto wrong = [&](std::size_t line) {
    return fail(ErrorCode::data_loss, "Line {} of {} is not a line that `weft chain relay` writes.",
                line, path.string());
  };
  PublishedRelays out;
  for (std::size_t number = 1; rest.contains('\n'); ++number) {  // The last line may be incomplete.
    const std::string_view text = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(text.size() + 1);
    if (number > 1) {
      const auto line = line_of(text);
      if (!line) return wrong(number);
      WEFT_OK(out.relays.written(line->row));
      continue;
    }
    const auto words = words_of(text);
    if (words.size() != 3 || words[0] != head_word || !read_number(words[2], out.place.units_a_sol))
      return wrong(number);
    WEFT_ASSIGN(out.place.config, PublicKey::parse(words[1]));
  }
  if (out.place.config == PublicKey{}) return wrong(1);
  return out;
}

}  // namespace weft::cli
