#include "apps/coordinator/key_rotation.h"

#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <unistd.h>

#include "apps/coordinator/folder_lock.h"
#include "common/base/format.h"
#include "common/crypto/keys.h"
#include "common/crypto/wallet.h"
#include "common/protocol/signing.h"

namespace weft::coordinator {

namespace {

namespace api = protocol::api;
constexpr std::size_t rotations_max = 64;

Result<> append_line(const std::filesystem::path& path, const std::string& line) {
  const int file = ::open(path.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
  const bool written =
      file >= 0 && ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size()) &&
      ::fsync(file) == 0;
  const int reason = errno;
  if (file >= 0) ::close(file);
  if (!written)
    return fail(ErrorCode::unavailable, "{} cannot be written: {}.", path.string(),
                std::strerror(reason));
  return {};
}

}  // namespace

Result<std::vector<api::KeyRotation>> read_rotations(const std::filesystem::path& data) {
  const auto path = data / "rotations";
  std::ifstream file(path);
  std::vector<api::KeyRotation> out;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    api::KeyRotation one;
    std::string rest;
    const bool has_words = static_cast<bool>(words >> one.before >> one.after >> one.signature) &&
                           !(words >> rest) && out.size() < rotations_max;
    const auto before = PublicKey::parse(one.before);
    const auto after = PublicKey::parse(one.after);
    const auto signature = Signature::parse(one.signature);
    if (!has_words || !before || !after || !signature ||
        !crypto::verify_now(*before, protocol::rotation_digest(*before, *after), *signature))
      return fail(ErrorCode::invalid_argument,
                  "Line {} of {} is not a key change that the old key signed, or the file has more "
                  "than {} lines.",
                  out.size() + 1, path.string(), rotations_max);
    out.push_back(std::move(one));
  }
  return out;
}

Result<PublicKey> rotate_key(const std::filesystem::path& data) {
  const auto path = data / "coordinator.json";
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return fail(ErrorCode::not_found,
                "The coordinator's key file {} does not exist: give the coordinator's data folder "
                "with --data.",
                path.string());
  WEFT_ASSIGN(const FolderLock lock, FolderLock::take(data));
  WEFT_ASSIGN(const auto known, read_rotations(data));
  if (known.size() >= rotations_max)
    return fail(
        ErrorCode::resource_exhausted,
        "The coordinator's key was changed {} times already; no further change can be recorded.",
        known.size());
  WEFT_ASSIGN(const crypto::KeyPair before, crypto::load_wallet(path));
  const auto next = data / "coordinator-next.json";
  std::filesystem::remove(next, error);
  WEFT_ASSIGN(const crypto::KeyPair after, crypto::create_wallet(next));
  const Signature signature =
      before.sign_now(protocol::rotation_digest(before.public_key(), after.public_key()));
  const auto old = data / weft::format("coordinator-{}.json", before.public_key().text());
  std::filesystem::create_hard_link(path, old, error);
  if (error && error != std::errc::file_exists)
    return fail(ErrorCode::unavailable, "{} cannot be made: {}.", old.string(), error.message());
  // The line may be written before the key changes, because a line to a key that is not in use does
  // not harm clients.
  WEFT_OK(
      append_line(data / "rotations", weft::format("{} {} {}\n", before.public_key().text(),
                                                   after.public_key().text(), signature.text())));
  std::filesystem::rename(next, path, error);
  if (error)
    return fail(ErrorCode::unavailable, "{} cannot be replaced: {}.", path.string(),
                error.message());
  return after.public_key();
}

}  // namespace weft::coordinator
