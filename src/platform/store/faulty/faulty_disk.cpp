#include "platform/store/faulty/faulty_disk.h"

#include <algorithm>
#include <cstring>
#include <new>

#include <sqlite3.h>

#include "common/base/check.h"

namespace weft::store::faulty {

// The functions that SQLite calls; each takes `mutex_`.
struct FaultyDiskCalls {
  using Disk = FaultyDisk;
  using File = FaultyDisk::File;
  using Write = FaultyDisk::Write;

  // SQLite's object for an open file, in memory that SQLite allocates.
  struct Handle : sqlite3_file {
    Disk& disk;
    std::shared_ptr<File> file;
    int held_shared = 0;  // One bit for each shared-memory lock that is held.
    int held_exclusive = 0;
  };
  static Handle& handle(sqlite3_file* file) { return *static_cast<Handle*>(file); }
  static Disk& disk_of(sqlite3_vfs* vfs) { return *static_cast<Disk*>(vfs->pAppData); }

  static void apply(ByteVector& to, const Write& write) {
    if (write.truncates) {
      to.resize(std::min<std::size_t>(to.size(), write.offset));
      return;
    }
    if (to.size() < write.offset + write.bytes.size()) to.resize(write.offset + write.bytes.size());
    std::ranges::copy(write.bytes, to.begin() + static_cast<std::ptrdiff_t>(write.offset));
  }

  // --- SQLite's functions of an open file.
  static int close(sqlite3_file* file) {
    Handle& open = handle(file);
    {
      const std::lock_guard lock(open.disk.mutex_);
      open.file->locks.erase(file);
    }
    open.~Handle();
    return SQLITE_OK;
  }

  static int read(sqlite3_file* file, void* out, int count, sqlite3_int64 offset) {
    Handle& open = handle(file);
    const std::lock_guard lock(open.disk.mutex_);
    std::memset(out, 0, static_cast<std::size_t>(count));
    if (open.disk.left_ == 0) return SQLITE_IOERR_READ;
    const ByteVector& bytes = open.file->now;
    const auto from = std::min(static_cast<std::size_t>(offset), bytes.size());
    const auto there = std::min(static_cast<std::size_t>(count), bytes.size() - from);
    if (there > 0) std::memcpy(out, bytes.data() + from, there);
    return there == static_cast<std::size_t>(count) ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
  }

  static int change(sqlite3_file* file, Write write) {
    Handle& open = handle(file);
    const std::lock_guard lock(open.disk.mutex_);
    // The write during which the power is cut may survive, as other unsynced writes do.
    const bool on = open.disk.left_ > 0;
    const bool done = open.disk.spend(*open.file);
    if (!on) return SQLITE_IOERR_WRITE;
    apply(open.file->now, write);
    open.file->pending.push_back(std::move(write));
    return done ? SQLITE_OK : SQLITE_IOERR_WRITE;
  }
  static int write(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 offset) {
    const auto* first = static_cast<const std::uint8_t*>(bytes);
    return change(file,
                  {.offset = static_cast<std::uint64_t>(offset), .bytes = {first, first + count}});
  }
  static int truncate(sqlite3_file* file, sqlite3_int64 size) {
    return change(file,
                  {.offset = static_cast<std::uint64_t>(size), .bytes = {}, .truncates = true});
  }

  static int sync(sqlite3_file* file, int) {
    Handle& open = handle(file);
    const std::lock_guard lock(open.disk.mutex_);
    if (!open.disk.spend(*open.file)) return SQLITE_IOERR_FSYNC;
    ++open.disk.counts_.syncs;
    for (const Write& write : open.file->pending) apply(open.file->durable, write);
    open.file->pending.clear();
    // SQLite's unix VFS syncs the folder together with the first sync of a file.
    if (!std::exchange(open.file->synced, true)) open.disk.removed_.clear();
    return SQLITE_OK;
  }

  static int size(sqlite3_file* file, sqlite3_int64* bytes) {
    const std::lock_guard lock(handle(file).disk.mutex_);
    *bytes = static_cast<sqlite3_int64>(handle(file).file->now.size());
    return SQLITE_OK;
  }

  // Returns the highest lock of the other connections. These locks must work, although all other
  // locking uses the shared memory: a connection that gets the exclusive lock when it closes
  // assumes that it is the last connection and removes the log.
  static int held_by_others(const File& file, const void* connection) {
    int highest = SQLITE_LOCK_NONE;
    for (const auto& [other, level] : file.locks) {
      if (other != connection) highest = std::max(highest, level);
    }
    return highest;
  }
  static int lock(sqlite3_file* file, int level) {
    Handle& open = handle(file);
    const std::lock_guard lock(open.disk.mutex_);
    int& held = open.file->locks[file];
    if (held >= level) return SQLITE_OK;
    const int others = held_by_others(*open.file, file);
    if (level == SQLITE_LOCK_SHARED ? others >= SQLITE_LOCK_PENDING
                                    : others >= SQLITE_LOCK_RESERVED)
      return SQLITE_BUSY;
    if (level == SQLITE_LOCK_EXCLUSIVE && others > SQLITE_LOCK_NONE) {
      held = SQLITE_LOCK_PENDING;
      return SQLITE_BUSY;
    }
    held = level;
    return SQLITE_OK;
  }
  static int unlock(sqlite3_file* file, int level) {
    Handle& open = handle(file);
    const std::lock_guard lock(open.disk.mutex_);
    int& held = open.file->locks[file];
    held = std::min(held, level);
    return SQLITE_OK;
  }
  static int check_reserved_lock(sqlite3_file* file, int* held) {
    Handle& open = handle(file);
    const std::lock_guard lock(open.disk.mutex_);
    *held =
        std::max(held_by_others(*open.file, file), open.file->locks[file]) >= SQLITE_LOCK_RESERVED
            ? 1
            : 0;
    return SQLITE_OK;
  }

  static int control(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
  static int sector_size(sqlite3_file*) { return 4096; }
  static int characteristics(sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }

  // --- SQLite's functions of shared memory, which is freed with the file. A connection that still
  // has the file open may therefore read it.
  static int map_shared(sqlite3_file* file, int region, int bytes, int extend,
                        void volatile** out) {
    Handle& open = handle(file);
    const std::lock_guard lock(open.disk.mutex_);
    auto& shared = open.file->shared;
    *out = nullptr;
    while (static_cast<int>(shared.size()) <= region) {
      if (extend == 0) return SQLITE_OK;
      shared.push_back(std::make_unique<ByteVector>(static_cast<std::size_t>(bytes)));
    }
    *out = shared[static_cast<std::size_t>(region)]->data();
    return SQLITE_OK;
  }

  static int lock_shared(sqlite3_file* file, int first, int count, int flags) {
    Handle& open = handle(file);
    const std::lock_guard lock(open.disk.mutex_);
    auto& locks = open.file->shared_locks;
    check(first >= 0 && count > 0 && first + count <= static_cast<int>(locks.size()),
          "there are eight shared-memory locks");
    const std::span range(locks.data() + first, static_cast<std::size_t>(count));
    const int mask = ((1 << count) - 1) << first;
    const bool exclusive = (flags & SQLITE_SHM_EXCLUSIVE) != 0;
    int& held = exclusive ? open.held_exclusive : open.held_shared;
    if ((flags & SQLITE_SHM_UNLOCK) != 0) {
      if ((held & mask) != mask) return SQLITE_OK;
      for (int& readers : range) readers = exclusive ? 0 : readers - 1;
      held &= ~mask;
      return SQLITE_OK;
    }
    if ((held & mask) == mask) return SQLITE_OK;
    if (std::ranges::any_of(range,
                            [&](int readers) { return exclusive ? readers != 0 : readers < 0; }))
      return SQLITE_BUSY;
    for (int& readers : range) readers = exclusive ? -1 : readers + 1;
    held |= mask;
    return SQLITE_OK;
  }
  static void barrier(sqlite3_file* file) { const std::lock_guard lock(handle(file).disk.mutex_); }
  static int unmap_shared(sqlite3_file* file, int remove) {
    Handle& open = handle(file);
    const std::lock_guard lock(open.disk.mutex_);
    check(open.held_shared == 0 && open.held_exclusive == 0,
          "who lets go of the shared memory holds no lock of it");
    if (remove == 0) return SQLITE_OK;
    check(held_by_others(*open.file, file) == SQLITE_LOCK_NONE,
          "who removes the shared memory is the last connection");
    open.file->shared.clear();
    return SQLITE_OK;
  }

  // --- SQLite's functions on file names.
  static int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags,
                  int* flags_out) {
    Disk& disk = disk_of(vfs);
    const std::lock_guard lock(disk.mutex_);
    file->pMethods = nullptr;
    if (disk.left_ == 0) return SQLITE_CANTOPEN;
    std::shared_ptr<File> found;
    if (name != nullptr && disk.files_.contains(name)) found = disk.files_[name];
    if (!found) {
      if ((flags & SQLITE_OPEN_CREATE) == 0) return SQLITE_CANTOPEN;
      found = std::make_shared<File>();
      found->kind = (flags & SQLITE_OPEN_MAIN_DB) != 0 ? FaultyDisk::Kind::database
                    : (flags & SQLITE_OPEN_WAL) != 0   ? FaultyDisk::Kind::log
                                                       : FaultyDisk::Kind::other;
      if (name != nullptr) disk.files_[name] = found;
    }
    new (file) Handle{{.pMethods = &methods}, disk, std::move(found)};
    if (flags_out != nullptr) *flags_out = flags;
    return SQLITE_OK;
  }
  static int remove(sqlite3_vfs* vfs, const char* name, int sync_folder) {
    Disk& disk = disk_of(vfs);
    const std::lock_guard lock(disk.mutex_);
    const auto found = disk.files_.find(name);
    if (found == disk.files_.end()) return SQLITE_IOERR_DELETE_NOENT;
    if (!disk.spend(*found->second)) return SQLITE_IOERR_DELETE;
    // A power cut may lose a file that was never synced, so such a file does not replace an earlier
    // removed file of the same name, which may still come back.
    if (found->second->synced) disk.removed_[name] = found->second;
    disk.files_.erase(found);
    if (sync_folder != 0) disk.removed_.clear();
    return SQLITE_OK;
  }
  static int access(sqlite3_vfs* vfs, const char* name, int, int* there) {
    Disk& disk = disk_of(vfs);
    const std::lock_guard lock(disk.mutex_);
    const auto found = disk.files_.find(name);
    *there = found != disk.files_.end() && !found->second->now.empty() ? 1 : 0;
    return SQLITE_OK;
  }
  static int full_path(sqlite3_vfs*, const char* name, int size, char* out) {
    sqlite3_snprintf(size, out, "%s", name);
    return SQLITE_OK;
  }

  static const sqlite3_io_methods methods;
};

const sqlite3_io_methods FaultyDiskCalls::methods = {
    .iVersion = 2,
    .xClose = close,
    .xRead = read,
    .xWrite = write,
    .xTruncate = truncate,
    .xSync = sync,
    .xFileSize = size,
    .xLock = lock,
    .xUnlock = unlock,
    .xCheckReservedLock = check_reserved_lock,
    .xFileControl = control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = characteristics,
    .xShmMap = map_shared,
    .xShmLock = lock_shared,
    .xShmBarrier = barrier,
    .xShmUnmap = unmap_shared,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

FaultyDisk::FaultyDisk(std::string name, std::uint64_t seed)
    : random_(seed),
      vfs_(std::make_unique<sqlite3_vfs>(*sqlite3_vfs_find(nullptr))),
      name_(std::move(name)) {
  vfs_->szOsFile = sizeof(FaultyDiskCalls::Handle);
  vfs_->pNext = nullptr;
  vfs_->zName = name_.c_str();
  vfs_->pAppData = this;
  vfs_->xOpen = FaultyDiskCalls::open;
  vfs_->xDelete = FaultyDiskCalls::remove;
  vfs_->xAccess = FaultyDiskCalls::access;
  vfs_->xFullPathname = FaultyDiskCalls::full_path;
  check(sqlite3_vfs_register(vfs_.get(), 0) == SQLITE_OK, "the VFS is registered");
}

FaultyDisk::~FaultyDisk() { sqlite3_vfs_unregister(vfs_.get()); }

void FaultyDisk::cut_power_after(std::uint64_t operations, Counting counting) {
  const std::lock_guard lock(mutex_);
  left_ = operations;
  counting_ = counting;
}

// Counts an operation; true if the power is still on after it.
bool FaultyDisk::spend(const File& file) {
  if (left_ == 0) return false;
  if (left_ == UINT64_MAX || (counting_ == Counting::database && file.kind != Kind::database))
    return true;
  if (--left_ > 0) return true;
  if (file.kind == Kind::log) ++counts_.cuts_in_log;
  if (file.kind == Kind::database) ++counts_.cuts_in_database;
  return false;
}

bool FaultyDisk::power_is_off() {
  const std::lock_guard lock(mutex_);
  return left_ == 0;
}

void FaultyDisk::lose_what_is_not_synced(File& file) {
  constexpr std::uint64_t sector_bytes =
      512;  // The disk may write fewer bytes atomically than a sector of 4096.
  for (const Write& write : file.pending) {
    switch (random_() % 3) {
      case 0:
        ++counts_.writes_lost;
        break;
      case 1:
        FaultyDiskCalls::apply(file.durable, write);
        break;
      default: {
        if (write.truncates) {
          FaultyDiskCalls::apply(file.durable, write);
          break;
        }
        // Some sectors survive, because the disk may write them in any order.
        ++counts_.writes_torn;
        const std::uint64_t end = write.offset + write.bytes.size();
        for (std::uint64_t from = write.offset; from < end;) {
          const std::uint64_t to = std::min(end, (from / sector_bytes + 1) * sector_bytes);
          if (random_() % 2 == 0) {
            const auto first =
                write.bytes.begin() + static_cast<std::ptrdiff_t>(from - write.offset);
            FaultyDiskCalls::apply(
                file.durable,
                {.offset = from, .bytes = {first, first + static_cast<std::ptrdiff_t>(to - from)}});
          }
          from = to;
        }
      }
    }
  }
  file.pending.clear();
  file.now = file.durable;
  file.shared.clear();
}

void FaultyDisk::restart() {
  const std::lock_guard lock(mutex_);
  for (auto& [name, file] : files_)
    check(file->locks.empty(), "everything is closed before the power is on again");
  for (auto entry = files_.begin(); entry != files_.end();) {
    lose_what_is_not_synced(*entry->second);
    const bool lost = !entry->second->synced && random_() % 2 == 0;
    counts_.files_lost += lost ? 1 : 0;
    entry = lost ? files_.erase(entry) : std::next(entry);
  }
  for (auto& [name, file] : removed_) {
    if (random_() % 2 == 0) continue;
    lose_what_is_not_synced(*file);
    files_[name] = file;
    ++counts_.files_back;
  }
  removed_.clear();
  left_ = UINT64_MAX;
}

FaultyDisk::Counts FaultyDisk::counts() {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace weft::store::faulty
