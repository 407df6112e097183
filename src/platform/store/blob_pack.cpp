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

// The kind is not part of the check: removing a blob overwrites that one byte.
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

// A mark says up to where its file was durable, in place of a hash.
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

// Room is set aside in steps, so that a full disk is met by a thread that adds, not by one that
// syncs.
constexpr std::uint64_t room_step = 1 << 20;

// Records that are not in their file yet.
struct Waiting {
  std::uint32_t file = 0;
  std::uint64_t offset = 0;
  ByteVector bytes;
  bool closed = false;  // A thread is writing it: nothing is added.
};

}  // namespace

struct BlobPack::State {
  fs::path directory;
  Options options;
  std::mutex writing;        // Before `mutex`: one writes at a time, in order.
  mutable std::mutex mutex;  // For all that follows.
  std::unordered_map<Hash, Place> index;
  std::uint64_t bytes = 0;
  std::map<std::uint32_t, int> files;  // Open, by number.
  std::uint32_t current = 0;           // Which one is appended to; 0: none yet.
  std::uint32_t next = 1;
  std::deque<Waiting> waiting;
  std::size_t waiting_bytes = 0;
  std::set<std::uint32_t> unsynced;  // Files to which something was added since the last sync.
  std::uint64_t end = 0;             // End of the current file, with what waits.
  std::uint64_t room = 0;            // Up to where the disk has room for it.
  std::uint64_t synced = 0;          // In the current file: all before it is durable,
  std::uint64_t marked = 0;          // and the last mark says so of this.

  ~State() {
    for (const auto& [number, file] : files) ::close(file);
  }

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

  [[nodiscard]] int file(std::uint32_t number) const {
    const std::lock_guard lock(mutex);
    return files.at(number);
  }

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
  // Under `writing`.
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
    files[number] = file;
    struct stat status{};
    if (::fstat(file, &status) != 0) return system_error("Reading", path(number));
    const auto size = static_cast<std::size_t>(status.st_size);
    // Room that a process set aside and did not need.
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

// Ends at an invalid head: what stands after it was never synced.
void BlobPack::State::read_heads(std::uint32_t number, ByteSpan all) {
  struct Found {
    Hash hash;
    Place place;
  };
  std::vector<Found> since_mark;
  const auto take = [&](const Found& found) {
    if (index.emplace(found.hash, found.place).second) bytes += found.place.size;
  };
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
  files[number] = file;
  current = number;
  end = room = synced = marked = 0;
  return sync_folder();
}

Result<> BlobPack::State::append(Kind kind, const Hash& hash, ByteSpan content) {
  const std::uint64_t size = head_bytes + content.size();
  if (current == 0 || end + size > options.file_bytes_max) WEFT_OK(begin_file());
  if (end + size > room) {
    const std::uint64_t more = std::max(room_step, size);
    if (::fallocate(files.at(current), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(room),
                    static_cast<off_t>(more)) != 0 &&
        (errno == ENOSPC || errno == EDQUOT))  // Where it is not known, writing says.
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
      first = &waiting.front();  // Which stays where it is: only this function takes it away.
      waiting.front().closed = true;
      file = files.at(first->file);
    }
    // (What a failure cut short is written again.)
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
  (void)state_->write_waiting();  // No caller was promised any of it.
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
  state_->index.emplace(hash, Place{.file = state_->current,
                                    .size = static_cast<std::uint32_t>(bytes.size()),
                                    .offset = state_->end - bytes.size()});
  state_->bytes += bytes.size();
  return true;
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
    if (done && ::fdatasync(state_->file(number)) != 0)
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
  return found->second;
}

Result<ByteVector> BlobPack::read(const Place& place, std::uint64_t offset,
                                  std::uint64_t size) const {
  int file = -1;
  {
    const std::lock_guard lock(state_->mutex);
    if (const Waiting* const records = state_->waiting_with(place)) {
      const ByteSpan part =
          ByteSpan(records->bytes).subspan(place.offset - records->offset + offset, size);
      return ByteVector(part.begin(), part.end());
    }
    file = state_->files.at(place.file);
  }
  ByteVector bytes(size);
  for (std::uint64_t done = 0; done < size;) {
    const ssize_t count = ::pread(file, bytes.data() + done, size - done,
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

Result<bool> BlobPack::remove(const Hash& hash) {
  constexpr auto kind = static_cast<std::uint8_t>(Kind::removed);
  std::unique_lock writing(state_->writing);
  std::unique_lock lock(state_->mutex);
  auto found = state_->index.extract(hash);
  if (found.empty()) return false;
  const Place place = found.mapped();
  state_->bytes -= place.size;
  if (Waiting* const records = state_->waiting_with(place)) {
    records->bytes[place.offset - head_bytes - records->offset] = kind;
    return true;
  }
  const int file = state_->files.at(place.file);
  lock.unlock();
  writing.unlock();
  if (::pwrite(file, &kind, 1, static_cast<off_t>(place.offset - head_bytes)) == 1 &&
      ::fdatasync(file) == 0)
    return true;
  const auto error = system_error("Removing from", state_->path(place.file));
  lock.lock();
  if (state_->index.insert(std::move(found)).inserted) state_->bytes += place.size;
  return error;
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
