#include "common/crypto/wallet.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include <openssl/crypto.h>
#include <sys/stat.h>

#include "common/crypto/wallet_text.h"

namespace weft::crypto {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t wallet_bytes_max =
    4096;  // 64 numbers take less than 400 bytes; the rest is room for white space.

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(const File&) = delete;
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  [[nodiscard]] int get() const { return descriptor_; }

 private:
  int descriptor_;
};

std::unexpected<Error> system_failure(std::string_view what, const fs::path& path) {
  const int error = errno;
  const ErrorCode code = error == ENOENT                     ? ErrorCode::not_found
                         : error == EACCES || error == EPERM ? ErrorCode::permission_denied
                                                             : ErrorCode::internal;
  return fail(code, "{} '{}': {}.", what, path.string(), std::strerror(error));
}

Result<std::string> read_private_file(const fs::path& path) {
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return system_failure("Cannot open the wallet", path);
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return system_failure("Cannot look at the wallet", path);
  if (!S_ISREG(status.st_mode))
    return fail(ErrorCode::invalid_argument, "The wallet '{}' is not a regular file.",
                path.string());
  if ((status.st_mode & 077) != 0) {
    return fail(ErrorCode::permission_denied,
                "The wallet '{}' has mode {:04o}, so that others may read it; run: chmod 600 '{}'.",
                path.string(), static_cast<unsigned>(status.st_mode & 07777), path.string());
  }
  std::string text(wallet_bytes_max + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t count = ::read(file.get(), text.data() + size, text.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_failure("Cannot read the wallet", path);
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
  }
  if (size > wallet_bytes_max)
    return fail(ErrorCode::invalid_argument, "The wallet '{}' is longer than {} bytes.",
                path.string(), wallet_bytes_max);
  text.resize(size);
  return text;
}

Result<> make_private_folder(const fs::path& folder) {
  if (folder.empty()) return {};
  struct stat status{};
  if (::stat(folder.c_str(), &status) == 0) return {};
  WEFT_OK(make_private_folder(folder.parent_path()));
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return system_failure("Cannot make the folder", folder);
  return {};
}

Result<> write_all(int descriptor, std::string_view text, const fs::path& path) {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_failure("Cannot write the wallet", path);
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  if (::fsync(descriptor) != 0) return system_failure("Cannot write the wallet", path);
  return {};
}

// Writes a file beside the path and links it to the path: link() never replaces an existing wallet,
// unlike rename().
Result<> write_private_file(const fs::path& path, std::string_view text) {
  std::string beside = path.string() + ".XXXXXX";
  const File file(::mkostemp(beside.data(), O_CLOEXEC));  // mkostemp() makes files of mode 0600.
  if (file.get() < 0) return system_failure("Cannot write beside the wallet", path);
  Result<> written = write_all(file.get(), text, path);
  if (written && ::link(beside.c_str(), path.c_str()) != 0) {
    written = errno == EEXIST ? fail(ErrorCode::already_exists, "The wallet '{}' exists already.",
                                     path.string())
                              : system_failure("Cannot name the wallet", path);
  }
  ::unlink(beside.c_str());
  if (!written) return written;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (const File directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      directory.get() >= 0)
    ::fsync(directory.get());
  return {};
}

}  // namespace

Result<fs::path> default_wallet_path() {
  if (const char* config = std::getenv("XDG_CONFIG_HOME"); config != nullptr && *config == '/')
    return fs::path(config) / "weft" / "wallet.json";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    return fs::path(home) / ".config" / "weft" / "wallet.json";
  return fail(
      ErrorCode::not_found,
      "Neither XDG_CONFIG_HOME nor HOME names a folder; give the wallet's path with --wallet.");
}

Result<KeyPair> load_wallet(const fs::path& path) {
  WEFT_ASSIGN(std::string text, read_private_file(path));
  auto numbers = parse_wallet_text(text);
  OPENSSL_cleanse(text.data(), text.size());
  if (!numbers) return pass(std::move(numbers), "while reading the wallet {}", path.string());
  auto pair = KeyPair::from_seed(numbers->seed);
  OPENSSL_cleanse(numbers->seed.data(), numbers->seed.size());
  if (pair && pair->public_key() != numbers->public_key) {
    return fail(ErrorCode::invalid_argument,
                "The wallet '{}' holds a public key that does not belong to its seed.",
                path.string());
  }
  return pair;
}

Result<KeyPair> create_wallet(const fs::path& path) {
  WEFT_OK(make_private_folder(path.parent_path()));
  WEFT_ASSIGN(KeyPair pair, KeyPair::generate());
  WalletNumbers numbers;
  ByteVector seed = pair.seed();
  std::ranges::copy(seed, numbers.seed.begin());
  numbers.public_key = pair.public_key();
  std::string text = wallet_text(numbers) + "\n";
  Result<> written = write_private_file(path, text);
  OPENSSL_cleanse(seed.data(), seed.size());
  OPENSSL_cleanse(numbers.seed.data(), numbers.seed.size());
  OPENSSL_cleanse(text.data(), text.size());
  if (!written) return pass(std::move(written));
  return pair;
}

Result<KeyPair> load_or_create_wallet(const fs::path& path) {
  auto loaded = load_wallet(path);
  if (loaded || loaded.error().code != ErrorCode::not_found) return loaded;
  auto created = create_wallet(path);
  // Another process has made a wallet since the file was looked for: that wallet is used.
  if (!created && created.error().code == ErrorCode::already_exists) return load_wallet(path);
  return created;
}

}  // namespace weft::crypto
