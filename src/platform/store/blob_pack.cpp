#include "platform/store/blob_pack.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <set>
#include <unistd.h>
#include <unordered_map>
#include <vector>

#include <sys/mman.h>
#include <sys/stat.h>

#include "common/base/byte_reader.h"
#include "common/base/format.h"
#include "common/crypto/sha256.h"

namespace weft::store {
namespace {

namespace fs = std::filesystem;

enum class Kind : std::uint8_t { blob = 1, removed = 2, mark = 3 };

constexpr std::size_t hash_at = 8;
constexpr std::size_t check_at = 40;
constexpr std::size_t head_bytes = 44;
using Head = std::array<std::uint8_t, head_bytes>;

// The kind is not part of the check, because remove() overwrites that byte.
std::array<std::uint8_t, 4> check_of(ByteSpan head) {
  const Hash digest = crypto::sha256(head.subspan(4, check_at - 4));
  return {digest.bytes[0], digest.bytes[1], digest.bytes[2], digest.bytes[3]};
}

Head head_of(Kind kind, std::size_t size, const Hash& hash) {
  Head head{};
  head[0] = static_cast<std::uint8_t>(kind);
  for (std::size_t i = 0; i < 4; ++i) head[4 + i] = static_cast<std::uint8_t>(size >> (8 * i));
  std::ranges::copy(hash.bytes, head.begin() + hash_at);
  std::ranges::copy(check_of(head), head.begin() + check_at);
  return head;
}

// A mark record has, instead of a hash, the offset up to which its file was durable.
Hash offset_as_hash(std::uint64_t offset) {
  Hash hash;
  for (std::size_t i = 0; i < 8; ++i) hash.bytes[i] = static_cast<std::uint8_t>(offset >> (8 * i));
  return hash;
}
std::unexpected<Error> system_error(std::string_view doing, const fs::path& path) {
  const int code = errno;
  const ErrorCode meaning = code == ENOSPC || code == EDQUOT || code == EMFILE || code == ENFILE
                                ? ErrorCode::resource_exhausted
                            : code == EACCES || code == EPERM || code == EROFS
                                ? ErrorCode::permission_denied
                            : code == EIO ? ErrorCode::data_loss
                                          : ErrorCode::internal;
  return fail(meaning, "{} {} fails: {}.", doing, path.string(), std::strerror(code));
}

Result<> write_at(int file, ByteSpan bytes, std::uint64_t offset, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("Writing", path);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  return {};
}

// Disk space is allocated in steps ahead of the writes, so that a full disk is noticed by a thread
// that adds, not by one that syncs.
constexpr std::uint64_t room_step = 1 << 20;

// Records that are not written to their file yet.
struct Waiting {
  std::uint32_t file = 0;
  std::uint64_t offset = 0;
  ByteVector bytes;
  bool closed = false;  // A thread is writing it; no record is added.
};

class PackFile {
 public:
  explicit PackFile(int number) : number_(number) {}
  PackFile(const PackFile&) = delete;
  PackFile& operator=(const PackFile&) = delete;
  ~PackFile() { ::close(number_); }
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

// An open file, and the size of the blobs in it that are indexed.
struct Opened {
  std::shared_ptr<PackFile> file;  // Readers share the file while they read.
  std::uint64_t blobs = 0;
  std::uint64_t bytes = 0;
  int empty_since = 0;  // Successive calls of compact() that found no blob in the file.
};

}  // namespace

struct BlobPack::State {
  struct Entry {
    Place place;
    Instant used;
  };
  fs::path directory;
  Options options;
  std::mutex writing;        // Locked before `mutex`; keeps the writes in order.
  mutable std::mutex mutex;  // Guards all members below.
  std::unordered_map<Hash, Entry> index;
  std::uint64_t bytes = 0;
  std::map<std::uint32_t, Opened> files;  // The files by their number.
  std::uint32_t current = 0;              // The file to append to; 0: none yet.
  std::uint32_t next = 1;
  std::deque<Waiting> waiting;
  std::size_t waiting_bytes = 0;
  std::set<std::uint32_t> unsynced;  // Files with records added since the last sync.
  std::uint64_t end = 0;             // End of the current file, including waiting records.
  std::uint64_t room = 0;            // End of the disk space allocated for it.
  std::uint64_t synced = 0;  // Everything before this offset of the current file is durable.
  std::uint64_t marked = 0;  // The offset of the file's last mark.

  [[nodiscard]] fs::path path(std::uint32_t number) const {
    return directory / weft::format("{:06}", number);
  }

  Result<> sync_folder() const {
    const int file = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0) return system_error("Opening", directory);
    const bool done = ::fsync(file) == 0;
    ::close(file);
    if (!done) return system_error("Syncing the folder", directory);
    return {};
  }

  [[nodiscard]] std::shared_ptr<PackFile> file(std::uint32_t number) const {
    const std::lock_guard lock(mutex);
    return files.at(number).file;
  }
  // Adds a blob to the index; false if the index has it already. `mutex` must be held.
  bool name(const Hash& hash, const Place& place) {
    if (!index.emplace(hash, Entry{.place = place, .used = options.clock()}).second) return false;
    bytes += place.size;
    holds(place, 1);
    return true;
  }
  // Counts one blob more (1) or fewer (-1) in the file of `place`. `mutex` must be held.
  void holds(const Place& place, int blobs) {
    Opened& opened = files.at(place.file);
    opened.blobs += static_cast<std::uint64_t>(blobs);
    opened.bytes += static_cast<std::uint64_t>(blobs) * place.size;
  }
  // Takes a removed blob out of the counts. A waiting record is marked as removed at once, and
  // nullptr is returned; otherwise the file is returned, whose record the caller must mark.
  // `writing` and `mutex` must be held.
  std::shared_ptr<PackFile> forget(const Place& place);
  [[nodiscard]] bool lies_at(const Hash& hash, const Place& place) const {
    const std::lock_guard lock(mutex);
    const auto found = index.find(hash);
    return found != index.end() && found->second.place == place;
  }
  Result<> move(const Hash& hash, const Place& place);

  [[nodiscard]] Waiting* waiting_with(const Place& place) {
    const auto holds = [&](const Waiting& records) {
      return records.file == place.file && place.offset >= records.offset &&
             place.offset <= records.offset + records.bytes.size();
    };
    const auto records = std::ranges::find_if(waiting, holds);
    return records == waiting.end() ? nullptr : &*records;
  }

  Result<> scan();
  void read_heads(std::uint32_t number, ByteSpan all);
  Result<> begin_file();
  Result<> append(Kind kind, const Hash& hash, ByteSpan content);
  // The caller holds `writing`.
  Result<> write_waiting();
};

Result<> BlobPack::State::scan() {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error)
    return fail(ErrorCode::permission_denied, "The folder {} cannot be made: {}.",
                directory.string(), error.message());
  std::vector<std::uint32_t> numbers;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename().string();
    if (name.size() == 6 && std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; }))
      numbers.push_back(static_cast<std::uint32_t>(std::stoul(name)));
  }
  if (error)
    return fail(ErrorCode::internal, "Reading the folder {} fails: {}.", directory.string(),
                error.message());
  std::ranges::sort(numbers);
  for (const std::uint32_t number : numbers) {
    next = number + 1;
    const int file = ::open(path(number).c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) return system_error("Opening", path(number));
    files[number].file = std::make_shared<PackFile>(file);
    struct stat status{};
    if (::fstat(file, &status) != 0) return system_error("Reading", path(number));
    const auto size = static_cast<std::size_t>(status.st_size);
    // Frees disk space that an earlier process allocated and did not use.
    if (static_cast<std::size_t>(status.st_blocks) * 512 > size + room_step / 2)
      (void)!::ftruncate(file, status.st_size);
    if (size == 0) continue;
    void* const mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapped == MAP_FAILED) return system_error("Reading", path(number));
    read_heads(number, {static_cast<const std::uint8_t*>(mapped), size});
    ::munmap(mapped, size);
  }
  return {};
}

// Stops at an invalid head, because the bytes after it were never synced.
void BlobPack::State::read_heads(std::uint32_t number, ByteSpan all) {
  struct Found {
    Hash hash;
    Place place;
  };
  std::vector<Found> since_mark;
  const auto take = [&](const Found& found) { name(found.hash, found.place); };
  for (std::size_t at = 0; at + head_bytes <= all.size();) {
    const ByteSpan head = all.subspan(at, head_bytes);
    if (!std::ranges::equal(check_of(head), head.subspan(check_at))) break;
    const auto size = read_le<std::uint32_t>(head, 4);
    at += head_bytes;
    if (size > all.size() - at) break;
    if (head[0] == static_cast<std::uint8_t>(Kind::mark)) {
      const std::uint64_t durable = read_le<std::uint64_t>(head, hash_at);
      const auto first_open = std::ranges::find_if(since_mark, [&](const Found& found) {
        return found.place.offset + found.place.size > durable;
      });
      std::for_each(since_mark.begin(), first_open, take);
      since_mark.erase(since_mark.begin(), first_open);
    } else if (head[0] == static_cast<std::uint8_t>(Kind::blob)) {
      Found found{.hash = {}, .place = {.file = number, .size = size, .offset = at}};
      std::ranges::copy(head.subspan(hash_at, Hash::size), found.hash.bytes.begin());
      since_mark.push_back(found);
    }
    at += size;
  }
  for (const Found& found : since_mark) {
    if (crypto::sha256(all.subspan(found.place.offset, found.place.size)) == found.hash)
      take(found);
  }
}

Result<> BlobPack::State::begin_file() {
  const std::uint32_t number = next++;
  const int file = ::open(path(number).c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return system_error("Making", path(number));
  files[number].file = std::make_shared<PackFile>(file);
  current = number;
  end = room = synced = marked = 0;
  return sync_folder();
}

Result<> BlobPack::State::append(Kind kind, const Hash& hash, ByteSpan content) {
  const std::uint64_t size = head_bytes + content.size();
  if (current == 0 || end + size > options.file_bytes_max) WEFT_OK(begin_file());
  if (end + size > room) {
    const std::uint64_t more = std::max(room_step, size);
    if (::fallocate(files.at(current).file->number(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(room),
                    static_cast<off_t>(more)) != 0 &&
        // Only a full disk is an error: the file system may lack fallocate().
        (errno == ENOSPC || errno == EDQUOT))
      return system_error("Writing", path(current));
    room += more;
  }
  if (waiting.empty() || waiting.back().closed || waiting.back().file != current)
    waiting.push_back({.file = current, .offset = end, .bytes = {}});
  ByteVector& records = waiting.back().bytes;
  const Head head = head_of(kind, content.size(), hash);
  records.insert(records.end(), head.begin(), head.end());
  records.insert(records.end(), content.begin(), content.end());
  unsynced.insert(current);
  waiting_bytes += size;
  end += size;
  return {};
}

Result<> BlobPack::State::write_waiting() {
  for (;;) {
    const Waiting* first = nullptr;
    int file = -1;
    {
      const std::lock_guard lock(mutex);
      if (waiting.empty()) return {};
      first = &waiting.front();  // Stays in place: only this function removes it.
      waiting.front().closed = true;
      file = files.at(first->file).file->number();
    }
    // Records whose write fails stay in `waiting` and are written again.
    WEFT_OK(write_at(file, first->bytes, first->offset, path(first->file)));
    const std::lock_guard lock(mutex);
    waiting_bytes -= first->bytes.size();
    waiting.pop_front();
  }
}

Result<std::unique_ptr<BlobPack>> BlobPack::open(const fs::path& directory, Options options) {
  auto state = std::make_unique<State>();
  state->directory = directory;
  state->options = options;
  WEFT_OK(state->scan());
  return std::unique_ptr<BlobPack>(new BlobPack(std::move(state)));
}

BlobPack::BlobPack(std::unique_ptr<State> state) : state_(std::move(state)) {}
BlobPack::~BlobPack() {
  const std::lock_guard writing(state_->writing);
  (void)state_->write_waiting();  // No result is needed: no caller was promised these records.
}

Result<bool> BlobPack::add(const Hash& hash, ByteSpan bytes) {
  std::unique_lock lock(state_->mutex);
  if (state_->index.contains(hash)) return false;
  if (state_->waiting_bytes > state_->options.waiting_bytes_max) {
    lock.unlock();
    {
      const std::lock_guard writing(state_->writing);
      WEFT_OK(state_->write_waiting());
    }
    lock.lock();
    if (state_->index.contains(hash)) return false;
  }
  if (state_->synced > state_->marked) {
    WEFT_OK(state_->append(Kind::mark, offset_as_hash(state_->synced), {}));
    state_->marked = state_->synced;
  }
  WEFT_OK(state_->append(Kind::blob, hash, bytes));
  return state_->name(hash, {.file = state_->current,
                             .size = static_cast<std::uint32_t>(bytes.size()),
                             .offset = state_->end - bytes.size()});
}

Result<> BlobPack::sync() {
  const std::lock_guard writing(state_->writing);
  std::set<std::uint32_t> numbers;
  std::uint32_t current = 0;
  std::uint64_t end = 0;
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->unsynced.empty()) return {};
    numbers = std::exchange(state_->unsynced, {});
    current = state_->current;
    end = state_->end;
  }
  Result<> done = state_->write_waiting();
  for (const std::uint32_t number : numbers) {
    if (done && ::fdatasync(state_->file(number)->number()) != 0)
      done = system_error("Syncing", state_->path(number));
  }
  const std::lock_guard lock(state_->mutex);
  if (!done) {
    state_->unsynced.merge(numbers);
  } else if (state_->current == current) {
    state_->synced = std::max(state_->synced, end);
  }
  return done;
}

std::optional<BlobPack::Place> BlobPack::find(const Hash& hash) const {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->index.find(hash);
  if (found == state_->index.end()) return std::nullopt;
  found->second.used = state_->options.clock();
  return found->second.place;
}

Result<ByteVector> BlobPack::read(const Place& place, std::uint64_t offset,
                                  std::uint64_t size) const {
  std::shared_ptr<PackFile> file;
  {
    const std::lock_guard lock(state_->mutex);
    if (const Waiting* const records = state_->waiting_with(place)) {
      const ByteSpan part =
          ByteSpan(records->bytes).subspan(place.offset - records->offset + offset, size);
      return ByteVector(part.begin(), part.end());
    }
    const auto opened = state_->files.find(place.file);
    if (opened == state_->files.end())
      return fail(ErrorCode::not_found, "The file {} is gone: its blobs were moved or removed.",
                  state_->path(place.file).string());
    file = opened->second.file;
  }
  ByteVector bytes(size);
  for (std::uint64_t done = 0; done < size;) {
    const ssize_t count = ::pread(file->number(), bytes.data() + done, size - done,
                                  static_cast<off_t>(place.offset + offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("Reading", state_->path(place.file));
    if (count == 0)
      return fail(ErrorCode::data_loss, "The file {} ends too early.",
                  state_->path(place.file).string());
    done += static_cast<std::uint64_t>(count);
  }
  return bytes;
}

Result<fs::path> BlobPack::file_of(const Place& place) const {
  const std::lock_guard writing(state_->writing);
  WEFT_OK(state_->write_waiting());
  return state_->path(place.file);
}

std::shared_ptr<PackFile> BlobPack::State::forget(const Place& place) {
  bytes -= place.size;
  holds(place, -1);
  if (Waiting* const records = waiting_with(place)) {
    records->bytes[place.offset - head_bytes - records->offset] =
        static_cast<std::uint8_t>(Kind::removed);
    return nullptr;
  }
  return files.at(place.file).file;
}

namespace {

bool mark_removed(const PackFile& file, const BlobPack::Place& place) {
  constexpr auto kind = static_cast<std::uint8_t>(Kind::removed);
  return ::pwrite(file.number(), &kind, 1, static_cast<off_t>(place.offset - head_bytes)) == 1;
}

}  // namespace

Result<bool> BlobPack::remove(const Hash& hash) {
  std::unique_lock writing(state_->writing);
  std::unique_lock lock(state_->mutex);
  const auto found = state_->index.extract(hash);
  if (found.empty()) return false;
  const Place place = found.mapped().place;
  const auto file = state_->forget(place);
  if (!file) return true;
  lock.unlock();
  writing.unlock();
  if (mark_removed(*file, place) && ::fdatasync(file->number()) == 0) return true;
  const auto error = system_error("Removing from", state_->path(place.file));
  lock.lock();
  state_->name(hash, place);
  return error;
}

std::vector<Hash> BlobPack::unused(Instant since) const {
  const std::lock_guard lock(state_->mutex);
  std::vector<Hash> all;
  for (const auto& [hash, entry] : state_->index) {
    if (entry.used < since) all.push_back(hash);
  }
  return all;
}

BlobPack::Collected BlobPack::collect(std::span<const Hash> hashes, Instant since) {
  Collected collected;
  for (const Hash& hash : hashes) {
    Place place;
    std::shared_ptr<PackFile> file;
    {
      const std::lock_guard writing(state_->writing);
      const std::lock_guard lock(state_->mutex);
      const auto found = state_->index.find(hash);
      if (found == state_->index.end() || found->second.used >= since) continue;
      place = found->second.place;
      state_->index.erase(found);
      file = state_->forget(place);
    }
    // If the mark cannot be written, the blob returns at the next start, as an unused one.
    if (file) (void)mark_removed(*file, place);
    collected.count += 1;
    collected.bytes += place.size;
  }
  return collected;
}

// Appends the bytes of `place` to the current file, and points the index there if the blob is still
// at `place`.
Result<> BlobPack::State::move(const Hash& hash, const Place& place) {
  ByteVector content(place.size);
  const auto source = file(place.file);
  for (std::uint64_t done = 0; done < content.size();) {
    const ssize_t count = ::pread(source->number(), content.data() + done, content.size() - done,
                                  static_cast<off_t>(place.offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return system_error("Reading", path(place.file));
    done += static_cast<std::uint64_t>(count);
  }
  if (crypto::sha256(content) != hash) return {};  // A damaged blob stays, and a read reports it.
  const std::lock_guard writing_lock(writing);
  if (waiting_bytes > options.waiting_bytes_max) WEFT_OK(write_waiting());
  const std::lock_guard lock(mutex);
  const auto found = index.find(hash);
  if (found == index.end() || found->second.place != place) return {};
  WEFT_OK(append(Kind::blob, hash, content));
  holds(place, -1);
  found->second.place = {.file = current, .size = place.size, .offset = end - place.size};
  holds(found->second.place, 1);
  return {};
}

Result<> BlobPack::compact() {
  constexpr int calls_before_removal = 2;
  std::vector<std::pair<Hash, Place>> left;
  std::vector<fs::path> emptied;
  {
    const std::lock_guard lock(state_->mutex);
    std::uint32_t sparse = 0;
    for (auto each = state_->files.begin(); each != state_->files.end();) {
      auto& [number, opened] = *each;
      struct stat status{};
      const bool in_use = number == state_->current || state_->unsynced.contains(number) ||
                          std::ranges::contains(state_->waiting, number, &Waiting::file);
      if (in_use || ::fstat(opened.file->number(), &status) != 0) {
        ++each;
        continue;
      }
      opened.empty_since = opened.blobs == 0 ? opened.empty_since + 1 : 0;
      if (opened.empty_since > calls_before_removal) {
        emptied.push_back(state_->path(number));
        each = state_->files.erase(each);
        continue;
      }
      const std::uint64_t named = opened.bytes + opened.blobs * head_bytes;
      if (opened.blobs > 0 && named * 2 < static_cast<std::uint64_t>(status.st_size))
        sparse = number;
      ++each;
    }
    if (sparse != 0) {
      for (const auto& [hash, entry] : state_->index) {
        if (entry.place.file == sparse) left.emplace_back(hash, entry.place);
      }
    }
  }
  for (const fs::path& path : emptied) {
    if (::unlink(path.c_str()) != 0) return system_error("Removing", path);
  }
  std::ranges::sort(left, {}, [](const auto& each) { return each.second.offset; });
  if (left.empty()) return {};
  for (const auto& [hash, place] : left) WEFT_OK(state_->move(hash, place));
  WEFT_OK(sync());
  // The copies are durable, so the originals are marked and the next start finds only the copies.
  const auto source = state_->file(left.front().second.file);
  for (const auto& [hash, place] : left) {
    if (!state_->lies_at(hash, place)) (void)mark_removed(*source, place);
  }
  return {};
}

std::uint64_t BlobPack::bytes() const {
  const std::lock_guard lock(state_->mutex);
  return state_->bytes;
}
std::uint64_t BlobPack::count() const {
  const std::lock_guard lock(state_->mutex);
  return state_->index.size();
}

}  // namespace weft::store
