#include "platform/store/blobs.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <optional>
#include <set>
#include <unistd.h>
#include <unordered_map>
#include <utility>

#include <sys/stat.h>

#include "common/base/check.h"
#include "common/base/guarded.h"
#include "common/crypto/sha256.h"
#include "platform/store/blob_pack.h"

namespace weft::store {
namespace {

namespace fs = std::filesystem;

constexpr std::uint8_t version_plain = 1;
constexpr std::uint64_t header_bytes = 1;
constexpr std::string_view incoming = "incoming";  // Folder of files that are being written.

class File {
 public:
  File() = default;
  explicit File(int number) : number_(number) {}
  File(File&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  File& operator=(File&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~File() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int number() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

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

Result<> write_all(int file, ByteSpan bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_error("Writing", path);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

Result<> sync_folder(const fs::path& folder) {
  const File file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!file || ::fsync(file.number()) != 0) return system_error("Syncing the folder", folder);
  return {};
}

}  // namespace

struct Blobs::State {
  explicit State(Options given)
      : options(std::move(given)), room(options.bytes_max, options.shares, options.clock) {}

  fs::path directory;
  Options options;
  Room room;  // Used by stored blobs and by blobs that are being written.
  std::atomic<std::uint64_t> count = 0;
  std::atomic<std::uint64_t> next_name = 0;
  std::unique_ptr<BlobPack> pack;
  // Last use of each blob that has a file of its own.
  Guarded<std::unordered_map<Hash, Instant>> files;
  std::array<std::atomic<bool>, 256>
      // True if this process has made and synced the folder; by the hash's first byte.
      folders_durable{};
  // Held, by the hash's first byte, while a file gets or loses its name and `files` is updated.
  // Otherwise a blob that is put while it is removed could be missing in `files`.
  std::array<std::mutex, 256> naming;

  [[nodiscard]] fs::path folder_of(const Hash& hash) const {
    return directory / hash.text().substr(0, 2);
  }
  [[nodiscard]] fs::path path_of(const Hash& hash) const {
    return folder_of(hash) / hash.text().substr(2);
  }

  // True if the blob has a file of its own. The call counts as a use of the blob.
  bool use_file(const Hash& hash) {
    return files.with([&](auto& names) {
      const auto found = names.find(hash);
      if (found == names.end()) return false;
      found->second = options.clock();
      return true;
    });
  }

  // Gives a written and synced file its name; returns false if the blob was stored already. Does
  // not sync the folder.
  Result<bool> publish(const fs::path& written, const Hash& hash);
  // Removes the file of a blob that was not used since `since`, and returns the blob's size. Fails
  // with not_found if the blob was used or is not stored. Does not sync the folder.
  Result<std::uint64_t> remove_file(const Hash& hash, Instant since);
  Result<> scan();
};

Result<bool> Blobs::State::publish(const fs::path& written, const Hash& hash) {
  const fs::path path = path_of(hash);
  std::atomic<bool>& folder_is_durable = folders_durable[hash.bytes[0]];
  if (!folder_is_durable) {
    if (::mkdir(folder_of(hash).c_str(), 0700) != 0 && errno != EEXIST)
      return system_error("Making", folder_of(hash));
    WEFT_OK(sync_folder(directory));
    folder_is_durable = true;
  }
  const std::lock_guard lock(naming[hash.bytes[0]]);
  // If two threads put the same blob at once, it is counted once, because link() does not replace a
  // file.
  const bool is_new = ::link(written.c_str(), path.c_str()) == 0;
  if (!is_new && errno != EEXIST) return system_error("Naming", path);
  ::unlink(written.c_str());
  if (is_new) count.fetch_add(1);
  files.with([&](auto& names) { names[hash] = options.clock(); });
  return is_new;
}

Result<std::uint64_t> Blobs::State::remove_file(const Hash& hash, Instant since) {
  const std::lock_guard lock(naming[hash.bytes[0]]);
  const auto used = files.with([&](auto& names) -> std::optional<Instant> {
    const auto found = names.find(hash);
    if (found == names.end() || found->second >= since) return {};
    const Instant last = found->second;
    names.erase(found);
    return last;
  });
  if (!used) return fail(ErrorCode::not_found, "There is no blob {}.", hash.text());
  const fs::path path = path_of(hash);
  struct stat status{};
  const bool known = ::stat(path.c_str(), &status) == 0;
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
    auto error = system_error("Removing", path);
    files.with([&](auto& names) { names[hash] = *used; });
    return error;
  }
  const auto size = known ? static_cast<std::uint64_t>(status.st_size) : 0;
  return size - std::min(size, header_bytes);
}

Result<> Blobs::State::scan() {
  std::error_code error;
  fs::create_directories(directory / incoming, error);
  if (error)
    return fail(ErrorCode::permission_denied, "The folder {} cannot be made: {}.",
                (directory / incoming).string(), error.message());
  for (const fs::directory_entry& left : fs::directory_iterator(directory / incoming, error))
    fs::remove(left.path(), error);
  for (const fs::directory_entry& folder : fs::directory_iterator(directory, error)) {
    if (folder.path().filename().string().size() != 2 || !folder.is_directory(error)) continue;
    for (const fs::directory_entry& blob : fs::directory_iterator(folder.path(), error)) {
      const std::uint64_t size = blob.file_size(error);
      const auto hash =
          Hash::parse(folder.path().filename().string() + blob.path().filename().string());
      if (error || !hash) continue;
      files.with([&](auto& names) { names[*hash] = options.clock(); });
      room.add_used(size - std::min(size, header_bytes));
      count += 1;
    }
  }
  if (error)
    return fail(ErrorCode::internal, "Reading the folder {} fails: {}.", directory.string(),
                error.message());
  WEFT_ASSIGN(pack, BlobPack::open(directory / "pack", {.clock = options.clock}));
  room.add_used(pack->bytes());
  count += pack->count();
  return sync_folder(directory);
}

// --- Writing blobs.

struct Blobs::Writer::State {
  std::shared_ptr<Blobs::State> blobs;
  std::optional<Hash> expected;
  std::uint64_t bytes_max = 0;
  fs::path path;
  File file;
  crypto::Sha256 hash;
  std::uint64_t written = 0;
  std::optional<Room::For> wanted;  // The purpose whose room the blob takes.
  Room::Taken taken;                // The room that it has taken.
  bool kept = false;                // True: the blob is stored and keeps its room.

  ~State() {
    if (kept || path.empty()) return;
    ::unlink(path.c_str());
    blobs->room.give_back(taken, wanted);
  }

  Result<> begin() {
    path = blobs->directory / incoming / std::to_string(blobs->next_name.fetch_add(1));
    file = File(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file) return system_error("Making", path);
    return write_all(file.number(), std::array{version_plain}, path);
  }
  Result<> write(ByteSpan bytes) {
    if (bytes.size() > bytes_max - written) {
      return fail(ErrorCode::resource_exhausted,
                  "The blob has more than the {} bytes that it was announced with.", bytes_max);
    }
    WEFT_ASSIGN(const Room::Taken more, blobs->room.take(bytes.size(), wanted));
    taken.add(more);
    written += bytes.size();
    hash.update(bytes);
    return write_all(file.number(), bytes, path);
  }
  // Finishes the file, except for the sync of its folder.
  Result<Hash> seal() {
    const Hash found = hash.finish();
    if (expected && found != *expected) {
      return fail(ErrorCode::invalid_argument, "The bytes have the hash {}, not {}.", found.text(),
                  expected->text());
    }
    if (::fdatasync(file.number()) != 0) return system_error("Syncing", path);
    WEFT_ASSIGN(const bool is_new, blobs->publish(path, found));
    if (!is_new) blobs->room.give_back(taken, wanted);
    kept = true;
    return found;
  }
};

Blobs::Writer::Writer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Blobs::Writer::Writer(Writer&&) noexcept = default;
Blobs::Writer::~Writer() = default;

Result<> Blobs::Writer::write(ByteSpan bytes) { return state_->write(bytes); }

Result<Hash> Blobs::Writer::finish() {
  check(!state_->kept, "a blob is finished once");
  WEFT_ASSIGN(const Hash hash, state_->seal());
  WEFT_OK(sync_folder(state_->blobs->folder_of(hash)));
  return hash;
}

Result<Blobs::Writer> Blobs::begin(const Hash& expected, std::uint64_t bytes_max,
                                   const std::optional<Room::For>& wanted) {
  auto state = std::make_unique<Writer::State>();
  state->blobs = state_;
  state->expected = expected;
  state->bytes_max = bytes_max;
  state->wanted = wanted;
  WEFT_OK(state->begin());
  return Writer(std::move(state));
}

Result<Hash> Blobs::put(ByteSpan bytes) {
  WEFT_ASSIGN(const std::vector<Hash> hashes, put_all(std::span(&bytes, 1)));
  return hashes.front();
}

Result<std::vector<Hash>> Blobs::put_all(std::span<const ByteSpan> blobs,
                                         const std::optional<Room::For>& wanted) {
  std::vector<Hash> hashes;
  std::set<fs::path> folders;
  for (const ByteSpan& bytes : blobs) {
    hashes.push_back(crypto::sha256(bytes));
    const Hash& hash = hashes.back();
    if (state_->pack->find(hash)) {
      WEFT_OK(sync());
      continue;
    }
    // A stored blob may come from a thread that has not synced the folder yet.
    folders.insert(state_->folder_of(hash));
    if (has(hash)) continue;
    Writer::State writer;
    writer.blobs = state_;
    writer.bytes_max = bytes.size();
    writer.wanted = wanted;
    WEFT_OK(writer.begin());
    WEFT_OK(writer.write(bytes));
    WEFT_OK(writer.seal());
  }
  for (const fs::path& folder : folders) WEFT_OK(sync_folder(folder));
  return hashes;
}

Result<Hash> Blobs::add(ByteSpan bytes) {
  WEFT_ASSIGN(const std::vector<Hash> hashes, add_all(std::span(&bytes, 1)));
  return hashes.front();
}

Result<std::vector<Hash>> Blobs::add_all(std::span<const ByteSpan> blobs,
                                         const std::optional<Room::For>& wanted) {
  std::vector<Hash> hashes;
  for (const ByteSpan& bytes : blobs) {
    if (bytes.size() > state_->options.packed_bytes_max) {
      WEFT_ASSIGN(const auto put, put_all(std::span(&bytes, 1), wanted));
      hashes.push_back(put.front());
      continue;
    }
    hashes.push_back(crypto::sha256(bytes));
    if (has(hashes.back())) continue;
    WEFT_ASSIGN(const Room::Taken taken, state_->room.take(bytes.size(), wanted));
    const auto added = state_->pack->add(hashes.back(), bytes);
    if (!added || !*added) state_->room.give_back(taken, wanted);
    if (!added) return std::unexpected(added.error());
    if (*added) state_->count.fetch_add(1);
  }
  return hashes;
}

Result<> Blobs::sync() { return state_->pack->sync(); }

// --- Reading blobs.

namespace {

struct OpenBlob {
  File file;
  std::uint64_t size = 0;  // The size of the plaintext.
};

Result<OpenBlob> open_blob(const fs::path& path, const Hash& hash) {
  OpenBlob blob{.file = File(::open(path.c_str(), O_RDONLY | O_CLOEXEC))};
  if (!blob.file && errno == ENOENT)
    return fail(ErrorCode::not_found, "There is no blob {}.", hash.text());
  struct stat status{};
  std::uint8_t version = 0;
  if (!blob.file || ::fstat(blob.file.number(), &status) != 0 ||
      ::pread(blob.file.number(), &version, 1, 0) < 0)
    return system_error("Reading", path);
  if (status.st_size < 1 || version != version_plain) {
    return fail(ErrorCode::data_loss, "The file {} is not a blob of version {}.", path.string(),
                version_plain);
  }
  blob.size = static_cast<std::uint64_t>(status.st_size) - header_bytes;
  return blob;
}

Result<ByteVector> read_part(const OpenBlob& blob, std::uint64_t offset, std::uint64_t size,
                             const fs::path& path) {
  ByteVector bytes(size);
  std::uint64_t done = 0;
  while (done < size) {
    const ssize_t count = ::pread(blob.file.number(), bytes.data() + done, size - done,
                                  static_cast<off_t>(header_bytes + offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("Reading", path);
    if (count == 0) return fail(ErrorCode::data_loss, "The file {} ends too early.", path.string());
    done += static_cast<std::uint64_t>(count);
  }
  return bytes;
}

}  // namespace

Result<std::unique_ptr<Blobs>> Blobs::open(const fs::path& directory, Options options) {
  auto state = std::make_shared<State>(std::move(options));
  state->directory = directory;
  WEFT_OK(state->scan());
  return std::unique_ptr<Blobs>(new Blobs(std::move(state)));
}

Blobs::Blobs(std::shared_ptr<State> state) : state_(std::move(state)) {}
Blobs::~Blobs() = default;

Result<Blobs::Location> Blobs::location(const Hash& hash) const {
  if (const auto place = state_->pack->find(hash)) {
    WEFT_ASSIGN(fs::path path, state_->pack->file_of(*place));
    return Location{.path = std::move(path), .offset = place->offset, .size = place->size};
  }
  state_->use_file(hash);
  const fs::path path = state_->path_of(hash);
  WEFT_ASSIGN(const OpenBlob blob, open_blob(path, hash));
  // The plaintext begins after the version byte.
  return Location{.path = path, .offset = 1, .size = blob.size};
}

bool Blobs::has(const Hash& hash) const {
  return state_->pack->find(hash).has_value() || state_->use_file(hash);
}

Result<std::uint64_t> Blobs::size(const Hash& hash) const {
  if (const auto place = state_->pack->find(hash)) return place->size;
  state_->use_file(hash);
  WEFT_ASSIGN(const OpenBlob blob, open_blob(state_->path_of(hash), hash));
  return blob.size;
}

Result<ByteVector> Blobs::read(const Hash& hash) const {
  const auto checked = [&](ByteVector bytes, const fs::path& where) -> Result<ByteVector> {
    if (crypto::sha256(bytes) != hash)
      return fail(ErrorCode::data_loss, "The bytes in {} no longer have the blob's hash.",
                  where.string());
    return bytes;
  };
  if (const auto place = state_->pack->find(hash)) {
    WEFT_ASSIGN(ByteVector bytes, state_->pack->read(*place, 0, place->size));
    return checked(std::move(bytes), state_->directory / "pack");
  }
  state_->use_file(hash);
  const fs::path path = state_->path_of(hash);
  WEFT_ASSIGN(const OpenBlob blob, open_blob(path, hash));
  WEFT_ASSIGN(ByteVector bytes, read_part(blob, 0, blob.size, path));
  return checked(std::move(bytes), path);
}

Result<ByteVector> Blobs::read(const Hash& hash, std::uint64_t offset, std::uint64_t size) const {
  const auto within = [&](std::uint64_t all) -> Result<> {
    if (offset <= all && size <= all - offset) return {};
    return fail(ErrorCode::invalid_argument,
                "The range of {} bytes at {} lies past the end of the blob ({}).", size, offset,
                all);
  };
  if (const auto place = state_->pack->find(hash)) {
    WEFT_OK(within(place->size));
    return state_->pack->read(*place, offset, size);
  }
  state_->use_file(hash);
  const fs::path path = state_->path_of(hash);
  WEFT_ASSIGN(const OpenBlob blob, open_blob(path, hash));
  WEFT_OK(within(blob.size));
  return read_part(blob, offset, size, path);
}

Result<> Blobs::remove(const Hash& hash) {
  if (const auto place = state_->pack->find(hash)) {
    WEFT_ASSIGN(const bool removed, state_->pack->remove(hash));
    if (!removed) return fail(ErrorCode::not_found, "There is no blob {}.", hash.text());
    state_->room.remove_used(place->size);
    state_->count.fetch_sub(1);
    return {};
  }
  WEFT_ASSIGN(const std::uint64_t size, state_->remove_file(hash, Instant::max()));
  state_->room.remove_used(size);
  state_->count.fetch_sub(1);
  return sync_folder(state_->folder_of(hash));
}

std::vector<Hash> Blobs::unused(Instant since) const {
  std::vector<Hash> all = state_->pack->unused(since);
  state_->files.with([&](const auto& names) {
    for (const auto& [hash, used] : names) {
      if (used < since) all.push_back(hash);
    }
  });
  return all;
}

Blobs::Collected Blobs::collect(std::span<const Hash> hashes, Instant since) {
  const BlobPack::Collected packed = state_->pack->collect(hashes, since);
  Collected collected{.count = packed.count, .bytes = packed.bytes};
  for (const Hash& hash : hashes) {
    const auto size = state_->remove_file(hash, since);
    if (!size) continue;  // The blob was used meanwhile, is not stored, or could not be removed.
    collected.count += 1;
    collected.bytes += *size;
  }
  state_->room.remove_used(collected.bytes);
  state_->count.fetch_sub(collected.count);
  return collected;
}

Result<> Blobs::compact() { return state_->pack->compact(); }

std::vector<Hash> Blobs::files() const {
  return state_->files.with([](const auto& names) {
    std::vector<Hash> all;
    all.reserve(names.size());
    for (const auto& [hash, used] : names) all.push_back(hash);
    return all;
  });
}
Room& Blobs::room() { return state_->room; }
std::uint64_t Blobs::bytes_total() const { return state_->room.used(); }
std::uint64_t Blobs::count() const { return state_->count; }

}  // namespace weft::store
