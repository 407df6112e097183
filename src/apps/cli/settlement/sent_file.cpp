#include "apps/cli/settlement/sent_file.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "apps/cli/files.h"
#include "apps/cli/settlement/durable_text.h"

namespace weft::cli {
namespace {

constexpr std::string_view sent_head = "weft-sent-1";

// Parses the five lines of a file; nullopt for another form.
std::optional<SentRecord> record_of(std::string_view text) {
  std::array<std::string_view, 5> lines;
  if (!take_lines(text, lines)) return std::nullopt;
  const auto program = PublicKey::parse(lines[1].substr(0, 64));
  auto bytes = from_base64(lines[4]);
  std::uint64_t height = 0;
  const auto read = std::from_chars(lines[3].data(), lines[3].data() + lines[3].size(), height);
  if (lines[0] != sent_head || !text.empty() || !program || !bytes ||
      read.ptr != lines[3].data() + lines[3].size() || lines[3].empty() ||
      bytes->size() < 1 + Signature::size)
    return std::nullopt;
  SentRecord out{.program = *program, .what = std::string(lines[2]), .transaction = {}};
  out.transaction.bytes = std::move(*bytes);
  std::copy_n(out.transaction.bytes.begin() + 1, Signature::size,
              out.transaction.signature.bytes.begin());
  out.transaction.last_valid_height = height;
  return out;
}

}  // namespace

Result<SentFile> SentFile::of(const std::filesystem::path& wallet) {
  WEFT_ASSIGN(std::filesystem::path path, file_beside(wallet, ".sent"));
  return SentFile(std::move(path));
}

Result<std::optional<SentRecord>> SentFile::read() const {
  std::error_code ignored;
  if (!std::filesystem::exists(path_, ignored)) return std::nullopt;
  WEFT_ASSIGN(const ByteVector text, read_file(path_));
  auto record = record_of(as_text(text));
  if (!record)
    return fail(ErrorCode::data_loss, "{} is not the record of an interrupted command.",
                path_.string());
  return record;
}

Result<> SentFile::write(const SentRecord& record) const {
  const std::string text =
      weft::format("{}\n{}\n{}\n{}\n{}\n", sent_head, record.program.text(), record.what,
                   record.transaction.last_valid_height, to_base64(record.transaction.bytes));
  return write_durably(path_, text);
}

void SentFile::remove() const {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

}  // namespace weft::cli
