// A disk in memory, as a VFS of SQLite, whose power can be cut. Each write that was not synced then
// survives whole, in some of its sectors, or not at all. A file that was created and never synced
// may be gone, and one that was removed without a sync of the folder may be back. After the cut
// every operation fails until restart().
//
// It promises what SQLite's own unix VFS promises for a common disk, so SQLite behaves in the same
// way: sectors of 4096 bytes, and no change of bytes outside of a write (powersafe overwrite).
// Locks are those of one process with several connections.
//
// Threading: any thread; one lock. Lifetime: outlives its connections.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "common/base/bytes.h"

struct sqlite3_vfs;

namespace weft::store::faulty {

class FaultyDisk {
 public:
  // Registers the disk with SQLite under `name` until it is destroyed.
  FaultyDisk(std::string name, std::uint64_t seed);
  FaultyDisk(const FaultyDisk&) = delete;
  ~FaultyDisk();

  // The operations that count towards a cut: all, or only those on the database file, which only a
  // SQLite checkpoint writes.
  enum class Counting : std::uint8_t { everything, database };
  // Cuts the power after the given number of further writes, truncations, syncs and removals.
  void cut_power_after(std::uint64_t operations, Counting counting = Counting::everything);
  [[nodiscard]] bool power_is_off();
  // Turns the power on again, with the surviving bytes. Called when all connections are closed.
  void restart();

  struct Counts {
    std::uint64_t syncs = 0;
    std::uint64_t writes_lost = 0;
    std::uint64_t writes_torn = 0;
    std::uint64_t files_lost = 0;
    std::uint64_t files_back = 0;
    std::uint64_t cuts_in_log = 0;
    std::uint64_t cuts_in_database = 0;
  };
  [[nodiscard]] Counts counts();

 private:
  friend struct FaultyDiskCalls;
  struct Write {
    std::uint64_t offset = 0;
    ByteVector bytes;
    bool truncates = false;  // True if this write truncates the file to `offset`.
  };
  enum class Kind : std::uint8_t { database, log, other };
  // Outlives its name while a connection has it open, as a file of the system does.
  struct File {
    Kind kind = Kind::other;
    ByteVector now;
    ByteVector durable;
    std::vector<Write> pending;        // The writes since the last sync.
    bool synced = false;               // True after the first sync.
    std::map<const void*, int> locks;  // Levels of SQLite's file locks, by connection.
    std::vector<std::unique_ptr<ByteVector>> shared;
    std::array<int, 8> shared_locks{};  // The number of readers of each lock; -1 for a writer.
  };

  [[nodiscard]] bool spend(const File& file);
  void lose_what_is_not_synced(File& file);

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<File>> files_;
  // Files that were removed since the folder was synced.
  std::map<std::string, std::shared_ptr<File>> removed_;
  Counts counts_;
  std::mt19937_64 random_;
  std::unique_ptr<sqlite3_vfs> vfs_;
  const std::string name_;
  std::uint64_t left_ = UINT64_MAX;
  Counting counting_ = Counting::everything;
};

}  // namespace weft::store::faulty
