// Room on the data folder's disk that is kept for the database: a file of that size. When the disk
// is full it is given up, so that finished work can still be recorded, and made again when there is
// plenty.
//
// Threading: one thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>

namespace weft::coordinator {

class DiskReserve {
 public:
  // Makes the file, if the disk has twice its size left. bytes 0: no reserve.
  DiskReserve(std::filesystem::path file, std::uint64_t bytes);
  DiskReserve(const DiskReserve&) = delete;

  // The disk is full, or is not any more.
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
