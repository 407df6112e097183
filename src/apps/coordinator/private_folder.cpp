#include "apps/coordinator/private_folder.h"

namespace weft::coordinator {
namespace {

namespace fs = std::filesystem;

constexpr fs::perms of_others = fs::perms::group_all | fs::perms::others_all;

// Removes the rights of other users. Returns true if there were any.
bool close_to_others(const fs::directory_entry& entry, std::error_code& error) {
  if (entry.is_symlink(error)) return false;
  const auto status = entry.status(error);
  if (error || (status.permissions() & of_others) == fs::perms::none) return false;
  fs::permissions(entry.path(), of_others, fs::perm_options::remove, error);
  return !error;
}

}  // namespace

Result<> make_private(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    return fail(ErrorCode::invalid_argument, "The data folder {} (--data) cannot be made: {}.",
                folder.string(), error.message());
  const bool was_open = close_to_others(fs::directory_entry(folder), error);
  const fs::path certificate = folder / "tls" / "cert.pem";
  // Only the top level of a folder that was closed is changed, because other users could not reach
  // anything in it. Everything in a folder that was open is closed.
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    if (at->path() != certificate) close_to_others(*at, error);
    if (!was_open && at.depth() == 0) at.disable_recursion_pending();
    if (error) break;
  }
  if (error)
    return fail(ErrorCode::unavailable,
                "The data folder {} (--data) cannot be closed to other users: {}.", folder.string(),
                error.message());
  return {};
}

}  // namespace weft::coordinator
