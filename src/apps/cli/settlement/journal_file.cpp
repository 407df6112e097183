#include "apps/cli/settlement/journal_file.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

#include <sys/file.h>

#include "common/base/format.h"

namespace weft::cli {
namespace {

constexpr std::size_t journal_bytes_max = std::size_t{1} << 30;

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

JournalFile::JournalFile(JournalFile&& other) noexcept
    : file_(std::exchange(other.file_, -1)),
      name_(std::move(other.name_)),
      lines_(std::move(other.lines_)) {}

JournalFile::~JournalFile() {
  if (file_ >= 0) ::close(file_);
}

Result<JournalFile> JournalFile::open(const std::filesystem::path& path, const std::string& head) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0)
    return fail(ErrorCode::invalid_argument, "{} cannot be opened: {}.", path.string(),
                std::strerror(errno));
  JournalFile out(file, path.string());
  if (::flock(file, LOCK_EX | LOCK_NB) != 0)
    return fail(ErrorCode::unavailable,
                "Another process has {} open; wait until that process ends.", out.name_);
  WEFT_OK(out.load(head));
  return out;
}

Error JournalFile::no_row(std::size_t line) const {
  return {ErrorCode::data_loss,
          weft::format("Line {} of the journal {} is not a valid row.", line + 2, name_)};
}

Result<> JournalFile::load(const std::string& head) {
  WEFT_ASSIGN(std::string text, text_of(file_, name_));
  const std::size_t whole = text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1;
  if (whole < text.size()) {
    if (::ftruncate(file_, static_cast<off_t>(whole)) != 0)
      return fail(ErrorCode::internal, "The incomplete last line of {} cannot be removed: {}.",
                  name_, std::strerror(errno));
    text.resize(whole);
  }
  if (text.empty()) {
    WEFT_OK(append(head));
    // Syncs the folder, without which a new file may be lost.
    const std::string folder = std::filesystem::absolute(name_).parent_path().string();
    const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool kept = opened >= 0 && ::fsync(opened) == 0;
    if (opened >= 0) ::close(opened);
    if (!kept)
      return fail(ErrorCode::internal, "{} cannot be written to the disk for certain: {}.", folder,
                  std::strerror(errno));
    return {};
  }
  std::string_view rest(text);
  for (std::size_t line = 1; !rest.empty(); ++line) {
    const std::size_t end = rest.find('\n');
    const std::string_view one = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    if (line > 1) {
      lines_.emplace_back(one);
    } else if (one != head) {
      return fail(ErrorCode::invalid_argument,
                  "{} is the journal of another network or coordinator: it begins with \"{}\", not "
                  "\"{}\".",
                  name_, one, head);
    }
  }
  return {};
}

Result<> JournalFile::append(std::string_view line) {
  const std::string whole = std::string(line) + "\n";
  std::string_view text = whole;
  while (!text.empty()) {
    const ssize_t put = ::write(file_, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0)
      return fail(ErrorCode::resource_exhausted, "{} cannot be written: {}.", name_,
                  std::strerror(errno));
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  if (::fdatasync(file_) != 0)
    return fail(ErrorCode::internal, "{} cannot be written to the disk for certain: {}.", name_,
                std::strerror(errno));
  return {};
}

}  // namespace weft::cli
