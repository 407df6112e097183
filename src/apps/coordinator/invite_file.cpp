#include "apps/coordinator/invite_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include "common/crypto/invitation.h"

namespace weft::coordinator {

Result<std::string> write_invite(const std::filesystem::path& folder,
                                 const crypto::KeyPair& identity, UnixMillis now) {
  constexpr UnixMillis ten_years = 10LL * 365 * 24 * 3600 * 1000;
  const auto path = std::filesystem::absolute(folder / "invite");
  const std::string text = crypto::write_invitation(
      identity, {.kind = crypto::InvitationKind::own, .until = now + ten_years});
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  const int descriptor = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  const bool written = descriptor >= 0 && ::write(descriptor, text.data(), text.size()) ==
                                              static_cast<ssize_t>(text.size());
  if (descriptor >= 0) ::close(descriptor);
  if (!written)
    return fail(ErrorCode::unavailable, "The invitation {} cannot be written: {}.", path.string(),
                std::strerror(errno));
  return path.string();
}

}  // namespace weft::coordinator
