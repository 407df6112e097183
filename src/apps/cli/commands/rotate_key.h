// `weft rotate-key`: a new key for a coordinator, announced by its old one.
#pragma once

#include <filesystem>

namespace weft::cli {

struct RotateKeyOptions {
  std::filesystem::path data;  // The coordinator's; empty: the default one.
};

// Prints the new key. The coordinator must not be running.
[[nodiscard]] int rotate_key_command(const RotateKeyOptions& options);

}  // namespace weft::cli
