#include "common/crypto/own_invitation.h"

#include <array>
#include <fcntl.h>
#include <unistd.h>

#include <sys/stat.h>

#include "common/base/clock.h"
#include "common/crypto/invitation.h"

namespace weft::crypto {

std::string own_invitation(const std::string& file, const PublicKey& coordinator,
                           const PublicKey& wallet) {
  if (file.empty() || file.front() != '/') return {};
  const int descriptor =
      ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) return {};
  struct stat about{};
  std::array<char, invitation_bytes_max + 1> text{};
  ssize_t count = 0;
  if (::fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == ::geteuid() &&
      (about.st_mode & 077) == 0)
    count = ::read(descriptor, text.data(), text.size());
  ::close(descriptor);
  if (count <= 0 || static_cast<std::size_t>(count) > invitation_bytes_max) return {};
  std::string read(text.data(), static_cast<std::size_t>(count));
  return read_invitation(read, coordinator, wallet, unix_now()) ? read : std::string();
}

}  // namespace weft::crypto
