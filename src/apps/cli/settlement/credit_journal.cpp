#include "apps/cli/settlement/credit_journal.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

#include <sys/file.h>

namespace weft::cli {
namespace {

using settlement::JournalRow;

constexpr std::size_t journal_bytes_max = std::size_t{1} << 30;

std::string journal_head(const CreditJournal::Place& place) {
  return weft::format("weft-credits-1 {} {}", place.config.text(), place.coordinator.text());
}

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

Result<std::string> text_of(int file, const std::string& name) {
  std::string out;
  std::array<char, 65536> part;
  for (;;) {
    const ssize_t got = ::pread(file, part.data(), part.size(), static_cast<off_t>(out.size()));
    if (got < 0)
      return fail(ErrorCode::internal, "{} cannot be read: {}.", name, std::strerror(errno));
    if (got == 0) return out;
    out.append(part.data(), static_cast<std::size_t>(got));
    if (out.size() > journal_bytes_max)
      return fail(ErrorCode::resource_exhausted, "{} has more than {} bytes.", name,
                  journal_bytes_max);
  }
}

}  // namespace

CreditJournal::CreditJournal(CreditJournal&& other) noexcept
    : file_(std::exchange(other.file_, -1)),
      name_(std::move(other.name_)),
      rows_(std::move(other.rows_)) {}

CreditJournal::~CreditJournal() {
  if (file_ >= 0) ::close(file_);
}

Result<CreditJournal> CreditJournal::open(const std::filesystem::path& path, const Place& place) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0)
    return fail(ErrorCode::invalid_argument, "{} cannot be opened: {}.", path.string(),
                std::strerror(errno));
  CreditJournal out(file, path.string());
  if (::flock(file, LOCK_EX | LOCK_NB) != 0)
    return fail(ErrorCode::unavailable, "Another process has {}; wait for its end.", out.name_);
  WEFT_OK(out.load(place));
  return out;
}

Result<> CreditJournal::load(const Place& place) {
  WEFT_ASSIGN(std::string text, text_of(file_, name_));
  const std::size_t whole = text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1;
  if (whole < text.size()) {
    if (::ftruncate(file_, static_cast<off_t>(whole)) != 0)
      return fail(ErrorCode::internal, "{} cannot be cut: {}.", name_, std::strerror(errno));
    text.resize(whole);
  }
  const std::string head = journal_head(place);
  if (text.empty()) {
    WEFT_OK(append_text(head + "\n"));
    // A new file is one only when its folder says so.
    const std::string folder = std::filesystem::absolute(name_).parent_path().string();
    const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool kept = opened >= 0 && ::fsync(opened) == 0;
    if (opened >= 0) ::close(opened);
    if (!kept)
      return fail(ErrorCode::internal, "{} cannot be made durable: {}.", folder,
                  std::strerror(errno));
    return {};
  }
  std::string_view rest(text);
  for (std::size_t line = 1; !rest.empty(); ++line) {
    const std::size_t end = rest.find('\n');
    const std::string_view one = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    if (line == 1) {
      if (one != head)
        return fail(ErrorCode::invalid_argument,
                    "{} is the journal of another network or coordinator.", name_);
      continue;
    }
    const auto row = row_of(one);
    if (!row) return fail(ErrorCode::data_loss, "Line {} of {} is no row.", line, name_);
    rows_.push_back(*row);
  }
  return {};
}

Result<> CreditJournal::append(const JournalRow& row) {
  WEFT_OK(append_text(
      weft::format("{} {} {} {}\n", row.state == JournalRow::State::open ? "open" : "done",
                   row.crediting.owner.text(), row.crediting.from, row.crediting.to)));
  rows_.push_back(row);
  return {};
}

Result<> CreditJournal::append_text(std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(file_, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0)
      return fail(ErrorCode::resource_exhausted, "{} cannot be written: {}.", name_,
                  std::strerror(errno));
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  if (::fdatasync(file_) != 0)
    return fail(ErrorCode::internal, "{} cannot be made durable: {}.", name_, std::strerror(errno));
  return {};
}

}  // namespace weft::cli
