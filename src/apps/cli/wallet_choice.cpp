#include "apps/cli/wallet_choice.h"

#include "common/crypto/wallet.h"

namespace weft::cli {
namespace {

Result<std::filesystem::path> path_of(const std::filesystem::path& named) {
  if (!named.empty()) return named;
  return crypto::default_wallet_path();
}

}  // namespace

Result<crypto::KeyPair> wallet_or_new(const std::filesystem::path& named) {
  WEFT_ASSIGN(const std::filesystem::path path, path_of(named));
  return crypto::load_or_create_wallet(path);
}

Result<crypto::KeyPair> wallet_there(const std::filesystem::path& named) {
  WEFT_ASSIGN(const std::filesystem::path path, path_of(named));
  std::error_code ignored;
  if (std::filesystem::symlink_status(path, ignored).type() ==
      std::filesystem::file_type::not_found) {
    return fail(ErrorCode::not_found,
                "There is no wallet at {}; weft wallet new --file {} makes one.", path.string(),
                path.string());
  }
  return crypto::load_wallet(path);
}

}  // namespace weft::cli
