// The store in one SQLite file: WAL, synchronous=FULL, one writer connection and one reader, both
// behind locks, prepared statements kept. The schema has a version; an older file is brought up
// step by step, a newer one refused.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "common/base/result.h"
#include "platform/store/store.h"

namespace weft::store::sqlite {

struct Options {
  // For the crash harness, which must see losses without it. Everything else leaves it on.
  bool synchronous = true;
  // Name of a registered SQLite VFS; empty for the default.
  std::string vfs;
  // Pages of 4 KiB; 0: as many as the disk holds.
  std::uint32_t pages_max = 0;
};

// Makes the file if there is none. unavailable if another process has it open for writing.
[[nodiscard]] Result<std::unique_ptr<Store>> open(const std::filesystem::path& path,
                                                  const Options& options = {});

}  // namespace weft::store::sqlite
