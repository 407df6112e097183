#include "apps/cli/settlement/durable_text.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include "apps/cli/files.h"
#include "common/crypto/wallet.h"

namespace weft::cli {
namespace {

Result<> make_durable(const std::filesystem::path& path, int flags) {
  const int file = ::open(path.c_str(), flags | O_RDONLY | O_CLOEXEC);
  const bool kept = file >= 0 && ::fsync(file) == 0;
  const int why = errno;
  if (file >= 0) ::close(file);
  if (kept) return {};
  return fail(ErrorCode::internal, "{} cannot be written to the disk for certain: {}.",
              path.string(), std::strerror(why));
}

}  // namespace

Result<> write_durably(const std::filesystem::path& path, std::string_view text) {
  WEFT_OK(write_file(path, as_bytes(text)));
  WEFT_OK(make_durable(path, 0));
  return make_durable(std::filesystem::absolute(path).parent_path(), O_DIRECTORY);
}

Result<std::filesystem::path> file_beside(std::filesystem::path wallet, std::string_view ending) {
  if (wallet.empty()) {
    WEFT_ASSIGN(wallet, crypto::default_wallet_path());
  }
  wallet += ending;
  return wallet;
}

bool take_lines(std::string_view& text, std::span<std::string_view> lines) {
  for (std::string_view& line : lines) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return false;
    line = text.substr(0, end);
    text.remove_prefix(end + 1);
  }
  return true;
}

}  // namespace weft::cli
