// `weft rotate-key`: makes a new key for a coordinator, which its old key announces.
#pragma once

#include <filesystem>

namespace weft::cli {

struct RotateKeyOptions {
  std::filesystem::path data;  // The coordinator's data folder; empty: the default one.
};

// Makes and prints the new key. The coordinator must not be running.
[[nodiscard]] int rotate_key_command(const RotateKeyOptions& options);

}  // namespace weft::cli
