#include "apps/cli/settlement/durable_text.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include "apps/cli/files.h"

namespace weft::cli {
namespace {

Result<> make_durable(const std::filesystem::path& path, int flags) {
  const int file = ::open(path.c_str(), flags | O_RDONLY | O_CLOEXEC);
  const bool kept = file >= 0 && ::fsync(file) == 0;
  const int why = errno;
  if (file >= 0) ::close(file);
  if (kept) return {};
  return fail(ErrorCode::internal, "{} cannot be made durable: {}.", path.string(),
              std::strerror(why));
}

}  // namespace

Result<> write_durably(const std::filesystem::path& path, std::string_view text) {
  WEFT_OK(write_file(path, as_bytes(text)));
  WEFT_OK(make_durable(path, 0));
  return make_durable(std::filesystem::absolute(path).parent_path(), O_DIRECTORY);
}

}  // namespace weft::cli
