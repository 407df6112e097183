#include <algorithm>
#include <cstring>

#include <sqlite3.h>

#include "common/base/check.h"
#include "service/store/sqlite/test_faulty_disk.h"

namespace weft::store::sqlite {
namespace {

constexpr std::uint64_t sector_bytes = 512;

// What SQLite holds for an open file. Temporary files are the handle's own.
struct Handle {
  sqlite3_file base;
  FaultyDisk* disk;
  FaultyDisk::File* file;
  FaultyDisk::File* own;
  int held_shared;  // Bits of the shared-memory locks that this handle holds.
  int held_exclusive;
};

Handle& handle(sqlite3_file* file) { return *reinterpret_cast<Handle*>(file); }

void apply(ByteVector& to, const FaultyDisk::Write& write) {
  if (write.truncates) {
    to.resize(std::min<std::size_t>(to.size(), write.offset));
    return;
  }
  if (to.size() < write.offset + write.bytes.size()) to.resize(write.offset + write.bytes.size());
  std::ranges::copy(write.bytes, to.begin() + static_cast<std::ptrdiff_t>(write.offset));
}

int close_file(sqlite3_file* file) {
  delete handle(file).own;
  return SQLITE_OK;
}

int read_file(sqlite3_file* file, void* out, int count, sqlite3_int64 offset) {
  Handle& open = handle(file);
  const std::lock_guard lock(open.disk->mutex);
  const ByteVector& bytes = open.file->now;
  const auto from = std::min(static_cast<std::size_t>(offset), bytes.size());
  const auto there = std::min(static_cast<std::size_t>(count), bytes.size() - from);
  std::memset(out, 0, static_cast<std::size_t>(count));
  if (there > 0) std::memcpy(out, bytes.data() + from, there);
  return there == static_cast<std::size_t>(count) ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

int change(sqlite3_file* file, FaultyDisk::Write write) {
  Handle& open = handle(file);
  const std::lock_guard lock(open.disk->mutex);
  if (!open.disk->spend()) return SQLITE_IOERR_WRITE;
  apply(open.file->now, write);
  open.file->pending.push_back(std::move(write));
  return SQLITE_OK;
}

int write_file(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 offset) {
  const auto* first = static_cast<const std::uint8_t*>(bytes);
  return change(file, {.offset = static_cast<std::uint64_t>(offset), .bytes = {first, first + count}});
}
int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  return change(file, {.offset = static_cast<std::uint64_t>(size), .bytes = {}, .truncates = true});
}

int sync_file(sqlite3_file* file, int) {
  Handle& open = handle(file);
  const std::lock_guard lock(open.disk->mutex);
  if (!open.disk->spend()) return SQLITE_IOERR_FSYNC;
  ++open.disk->counted.syncs;
  open.file->durable = open.file->now;
  open.file->pending.clear();
  return SQLITE_OK;
}

int file_size(sqlite3_file* file, sqlite3_int64* size) {
  const std::lock_guard lock(handle(file).disk->mutex);
  *size = static_cast<sqlite3_int64>(handle(file).file->now.size());
  return SQLITE_OK;
}

// One process, and in WAL mode the database file itself is only ever locked for reading.
int lock_file(sqlite3_file*, int) { return SQLITE_OK; }
int check_reserved_lock(sqlite3_file*, int* held) {
  *held = 0;
  return SQLITE_OK;
}
int file_control(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
int sector_size(sqlite3_file*) { return static_cast<int>(sector_bytes); }
int device_characteristics(sqlite3_file*) { return 0; }

int map_shared(sqlite3_file* file, int region, int size, int extend, void volatile** out) {
  Handle& open = handle(file);
  const std::lock_guard lock(open.disk->mutex);
  auto& shared = open.file->shared;
  *out = nullptr;
  while (static_cast<int>(shared.size()) <= region) {
    if (extend == 0) return SQLITE_OK;
    shared.push_back(std::make_unique<ByteVector>(static_cast<std::size_t>(size)));
  }
  *out = shared[static_cast<std::size_t>(region)]->data();
  return SQLITE_OK;
}

int lock_shared(sqlite3_file* file, int first, int count, int flags) {
  Handle& open = handle(file);
  const std::lock_guard lock(open.disk->mutex);
  int* locks = open.file->shared_locks;
  const int mask = ((1 << count) - 1) << first;
  if ((flags & SQLITE_SHM_UNLOCK) != 0) {
    for (int i = first; i < first + count; ++i) {
      if ((open.held_exclusive & 1 << i) != 0) locks[i] = 0;
      if ((open.held_shared & 1 << i) != 0) --locks[i];
    }
    open.held_exclusive &= ~mask;
    open.held_shared &= ~mask;
    return SQLITE_OK;
  }
  const bool exclusive = (flags & SQLITE_SHM_EXCLUSIVE) != 0;
  for (int i = first; i < first + count; ++i) {
    if (exclusive ? locks[i] != 0 : locks[i] < 0) return SQLITE_BUSY;
  }
  for (int i = first; i < first + count; ++i) locks[i] = exclusive ? -1 : locks[i] + 1;
  (exclusive ? open.held_exclusive : open.held_shared) |= mask;
  return SQLITE_OK;
}
void barrier(sqlite3_file* file) { const std::lock_guard lock(handle(file).disk->mutex); }
int unmap_shared(sqlite3_file* file, int remove) {
  Handle& open = handle(file);
  const std::lock_guard lock(open.disk->mutex);
  if (remove != 0) open.file->shared.clear();
  return SQLITE_OK;
}

const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = file_size,
    .xLock = lock_file,
    .xUnlock = lock_file,
    .xCheckReservedLock = check_reserved_lock,
    .xFileControl = file_control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = device_characteristics,
    .xShmMap = map_shared,
    .xShmLock = lock_shared,
    .xShmBarrier = barrier,
    .xShmUnmap = unmap_shared,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

FaultyDisk& disk_of(sqlite3_vfs* vfs) { return *static_cast<FaultyDisk*>(vfs->pAppData); }

int open_file(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* flags_out) {
  FaultyDisk& disk = disk_of(vfs);
  const std::lock_guard lock(disk.mutex);
  Handle& open = handle(file);
  open = {.base = {.pMethods = nullptr}, .disk = &disk, .file = nullptr, .own = nullptr, .held_shared = 0, .held_exclusive = 0};
  if (name != nullptr && (flags & SQLITE_OPEN_CREATE) == 0 && !disk.files.contains(name)) return SQLITE_CANTOPEN;
  open.own = name == nullptr ? new FaultyDisk::File : nullptr;
  open.file = name == nullptr ? open.own : &disk.files[name];
  open.base.pMethods = &methods;
  if (flags_out != nullptr) *flags_out = flags;
  return SQLITE_OK;
}

// Names come and go at once: the folder is taken as synced, since only bytes are at stake here.
int remove_file(sqlite3_vfs* vfs, const char* name, int) {
  FaultyDisk& disk = disk_of(vfs);
  const std::lock_guard lock(disk.mutex);
  if (!disk.spend()) return SQLITE_IOERR_DELETE;
  return disk.files.erase(name) > 0 ? SQLITE_OK : SQLITE_IOERR_DELETE_NOENT;
}
int access_file(sqlite3_vfs* vfs, const char* name, int, int* there) {
  FaultyDisk& disk = disk_of(vfs);
  const std::lock_guard lock(disk.mutex);
  const auto found = disk.files.find(name);
  *there = found != disk.files.end() && !found->second.now.empty() ? 1 : 0;
  return SQLITE_OK;
}
int full_path(sqlite3_vfs*, const char* name, int size, char* out) {
  sqlite3_snprintf(size, out, "%s", name);
  return SQLITE_OK;
}

}  // namespace

FaultyDisk::FaultyDisk(std::string name, std::uint64_t seed)
    : random_(seed), vfs_(std::make_unique<sqlite3_vfs>(*sqlite3_vfs_find(nullptr))), name_(std::move(name)) {
  vfs_->szOsFile = sizeof(Handle);
  vfs_->pNext = nullptr;
  vfs_->zName = name_.c_str();
  vfs_->pAppData = this;
  vfs_->xOpen = open_file;
  vfs_->xDelete = remove_file;
  vfs_->xAccess = access_file;
  vfs_->xFullPathname = full_path;
  check(sqlite3_vfs_register(vfs_.get(), 0) == SQLITE_OK, "the VFS is registered");
}

FaultyDisk::~FaultyDisk() { sqlite3_vfs_unregister(vfs_.get()); }

void FaultyDisk::cut_power_after(std::uint64_t operations) {
  const std::lock_guard lock(mutex);
  left_ = operations;
}

bool FaultyDisk::spend() {
  if (left_ == 0) return false;
  if (left_ != UINT64_MAX) --left_;
  return true;
}

bool FaultyDisk::power_is_off() {
  const std::lock_guard lock(mutex);
  return left_ == 0;
}

void FaultyDisk::restart() {
  const std::lock_guard lock(mutex);
  for (auto& [name, file] : files) {
    file.shared.clear();
    std::ranges::fill(file.shared_locks, 0);
    for (Write& write : file.pending) {
      const std::uint64_t sectors = (write.bytes.size() + sector_bytes - 1) / sector_bytes;
      switch (random_() % 3) {
        case 0:
          ++counted.writes_lost;
          continue;
        case 1:
          break;
        default:
          if (sectors < 2) break;
          // Some sectors are there, in whatever order the disk wrote them.
          ++counted.writes_torn;
          for (std::uint64_t i = 0; i < sectors; ++i) {
            if (random_() % 2 == 0) continue;
            const auto from = write.bytes.begin() + static_cast<std::ptrdiff_t>(i * sector_bytes);
            const auto to = write.bytes.begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>((i + 1) * sector_bytes, write.bytes.size()));
            apply(file.durable, {.offset = write.offset + i * sector_bytes, .bytes = {from, to}});
          }
          continue;
      }
      apply(file.durable, write);
    }
    file.pending.clear();
    file.now = file.durable;
  }
  left_ = UINT64_MAX;
}

FaultyDisk::Counts FaultyDisk::counts() {
  const std::lock_guard lock(mutex);
  return counted;
}

}  // namespace weft::store::sqlite
