#include "apps/cli/commands/rotate_key.h"

#include <cstdio>

#include "apps/cli/commands/serve.h"
#include "apps/cli/exit_code.h"
#include "apps/coordinator/key_rotation.h"

namespace weft::cli {

int rotate_key_command(const RotateKeyOptions& options) {
  std::filesystem::path data = options.data;
  if (data.empty()) {
    auto folder = default_data_folder();
    if (!folder) return report("rotate-key", folder.error());
    data = std::move(*folder);
  }
  const auto key = coordinator::rotate_key(data);
  if (!key) return report("rotate-key", key.error());
  std::printf("%s\n", key->text().c_str());
  return 0;
}

}  // namespace weft::cli
