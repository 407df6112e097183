// Disk space in the data folder that is reserved for the database, as a file of that size. A full
// disk makes the coordinator remove the file, so that finished work can still be recorded. The file
// is made again once the disk has enough room.
//
// Threading: one thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>

namespace weft::coordinator {

class DiskReserve {
 public:
  // Makes a file of `bytes` bytes if the disk has room for twice that. 0 makes no reserve.
  DiskReserve(std::filesystem::path file, std::uint64_t bytes);
  DiskReserve(const DiskReserve&) = delete;

  // Call with true if the disk is full, which removes the file, and with false once it has room
  // again, which makes the file again.
  void disk_full(bool full);
  [[nodiscard]] bool is_there() const { return there_; }

 private:
  void make();

  const std::filesystem::path file_;
  const std::uint64_t bytes_;
  bool there_ = false;
  bool said_ = false;
};

}  // namespace weft::coordinator
