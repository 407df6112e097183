#include "apps/cli/settlement/settling_file.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "apps/cli/files.h"
#include "apps/cli/settlement/durable_text.h"
#include "apps/cli/settlement/line.h"
#include "common/crypto/ordered_id.h"

namespace weft::cli {
namespace {

constexpr std::string_view settling_head = "weft-settling-1";

// Parses the four lines of a file; nullopt for another form.
std::optional<OpenSettling> settling_of(std::string_view text) {
  std::array<std::string_view, 4> lines;
  if (!take_lines(text, lines)) return std::nullopt;
  OpenSettling out;
  const auto coordinator = PublicKey::parse(lines[1].substr(0, 64));
  const auto nonce = from_hex(lines[3].substr(0, 2 * out.nonce.size()));
  const char* const end = lines[2].data() + lines[2].size();
  const auto read = std::from_chars(lines[2].data(), end, out.amount);
  if (lines[0] != settling_head || !text.empty() || !coordinator || lines[2].empty() ||
      read.ec != std::errc() || read.ptr != end || !nonce || nonce->size() != out.nonce.size() ||
      lines[3].size() != 2 * out.nonce.size())
    return std::nullopt;
  out.coordinator = *coordinator;
  std::ranges::copy(*nonce, out.nonce.begin());
  return out;
}

}  // namespace

Result<SettlingFile> SettlingFile::of(const std::filesystem::path& wallet) {
  WEFT_ASSIGN(std::filesystem::path path, file_beside(wallet, ".settling"));
  return SettlingFile(std::move(path));
}

Result<std::optional<OpenSettling>> SettlingFile::read() const {
  std::error_code ignored;
  if (!std::filesystem::exists(path_, ignored)) return std::nullopt;
  WEFT_ASSIGN(const ByteVector text, read_file(path_));
  auto open = settling_of(as_text(text));
  if (!open)
    return fail(ErrorCode::data_loss,
                "{} is not the record of an interrupted `weft chain settle`: see what the owner "
                "has settled (GET /v1/settlement), and remove the file.",
                path_.string());
  return open;
}

Result<OpenSettling> SettlingFile::begin(const PublicKey& coordinator, std::uint64_t amount) const {
  WEFT_ASSIGN(const std::optional<OpenSettling> open, read());
  if (open && open->coordinator == coordinator && open->amount == amount) {
    std::fprintf(stderr,
                 "This settling was begun before and not seen to its end: it is settled once.\n");
    return *open;
  }
  if (open)
    return fail(ErrorCode::unavailable,
                "The settling of {} at the coordinator {} was cut short and may have happened. Run "
                "`weft chain settle {:.6f}` there again, which settles the amount only once, or "
                "remove {} if you know the outcome.",
                credits_text(open->amount), open->coordinator.text(),
                static_cast<double>(open->amount) / 1e6, path_.string());
  const OpenSettling made{
      .coordinator = coordinator, .amount = amount, .nonce = crypto::ordered_id()};
  WEFT_OK(write_durably(path_, weft::format("{}\n{}\n{}\n{}\n", settling_head, coordinator.text(),
                                            amount, to_hex(ByteSpan(made.nonce)))));
  return made;
}

void SettlingFile::remove() const {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

}  // namespace weft::cli
