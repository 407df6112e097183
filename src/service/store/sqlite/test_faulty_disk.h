// A disk in memory, as a VFS of SQLite, whose power can be cut: what was written and not synced is then there whole, torn at
// a sector, or not at all, each write for itself. Every operation after the cut fails.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "common/base/bytes.h"

struct sqlite3_vfs;

namespace weft::store::sqlite {

class FaultyDisk {
 public:
  // Registered with SQLite under `name` while it lives.
  FaultyDisk(std::string name, std::uint64_t seed);
  FaultyDisk(const FaultyDisk&) = delete;
  ~FaultyDisk();

  // The power goes after so many further writes and syncs.
  void cut_power_after(std::uint64_t operations);
  [[nodiscard]] bool power_is_off();
  // Once everything is closed: what survives is what is there, and the power is on again.
  void restart();

  struct Counts {
    std::uint64_t syncs = 0;
    std::uint64_t writes_lost = 0;
    std::uint64_t writes_torn = 0;
  };
  [[nodiscard]] Counts counts();

  // --- For the VFS.
  struct Write {
    std::uint64_t offset = 0;
    ByteVector bytes;
    bool truncates = false;  // To `offset`.
  };
  struct File {
    ByteVector now;
    ByteVector durable;
    std::vector<Write> pending;  // Since the last sync.
    std::vector<std::unique_ptr<ByteVector>> shared;
    int shared_locks[8] = {};  // Number of readers; -1: one writer.
  };
  // True where the power is still on after it.
  bool spend();
  std::mutex mutex;
  std::map<std::string, File> files;
  Counts counted;

 private:
  std::mt19937_64 random_;
  std::unique_ptr<sqlite3_vfs> vfs_;
  std::string name_;
  std::uint64_t left_ = UINT64_MAX;
};

}  // namespace weft::store::sqlite
