// The store in one SQLite file, with WAL and synchronous=FULL. It has one writer connection and one
// reader connection, each with a lock and its prepared statements. The schema has a version: an
// older file is migrated step by step, a newer one is refused.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "common/base/result.h"
#include "platform/store/store.h"

namespace weft::store::sqlite {

struct Options {
  // False only in the tests of power cuts, which must find losses if the log is not synced.
  bool synchronous = true;
  // Name of a registered SQLite VFS; empty for SQLite's default.
  std::string vfs;
  // Maximum number of pages of 4 KiB; 0 means no maximum except the disk.
  std::uint32_t pages_max = 0;
};

// Opens the file, or creates it. Fails with unavailable if another process has the file open for
// writing.
[[nodiscard]] Result<std::unique_ptr<Store>> open(const std::filesystem::path& path,
                                                  const Options& options = {});

}  // namespace weft::store::sqlite
