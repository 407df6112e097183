#include "platform/store/blob_parts.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "common/base/guarded.h"

namespace weft::store {

namespace fs = std::filesystem;

namespace {

using FileClock = fs::file_time_type::clock;

// The state of an unfinished upload.
struct Upload {
  std::string owner;
  fs::file_time_type written;
  bool busy = false;  // A Part is writing to the upload.
};

// The uploads by the names of their files.
struct Uploads {
  std::map<std::string, Upload> files;
  std::map<std::string, std::size_t> of_owner;

  void add(const std::string& name, fs::file_time_type written) {
    const auto dot = name.find('.');
    const std::string owner = dot == std::string::npos ? "" : name.substr(dot + 1);
    if (files.emplace(name, Upload{.owner = owner, .written = written}).second) ++of_owner[owner];
  }
  void forget(const std::string& name) {
    const auto found = files.find(name);
    if (found == files.end()) return;
    const auto owner = of_owner.find(found->second.owner);
    if (--owner->second == 0) of_owner.erase(owner);
    files.erase(found);
  }
  [[nodiscard]] std::vector<std::string> names_of(const std::string& owner) const {
    std::vector<std::string> names;
    for (const auto& [name, upload] : files)
      if (upload.owner == owner) names.push_back(name);
    return names;
  }
  // The upload that has not continued for the longest time, of one owner or of all.
  [[nodiscard]] std::optional<std::string> oldest(const std::string* owner,
                                                  fs::file_time_type before) const {
    const std::pair<const std::string, Upload>* best = nullptr;
    for (const auto& one : files) {
      if (one.second.busy || one.second.written > before ||
          (owner != nullptr && one.second.owner != *owner))
        continue;
      if (best == nullptr || one.second.written < best->second.written) best = &one;
    }
    return best == nullptr ? std::nullopt : std::optional(best->first);
  }
};

}  // namespace

struct BlobParts::State {
  Blobs& blobs;
  fs::path directory;
  Options options;
  std::atomic<std::uint64_t> bytes = 0;  // The size of all parts together.
  Guarded<Uploads> uploads;

  [[nodiscard]] static std::string name_of(const Hash& hash, const std::string& owner) {
    return hash.text() + "." + owner;
  }
  [[nodiscard]] static std::uint64_t size_of(const fs::path& file) {
    std::error_code error;
    const std::uint64_t size = fs::file_size(file, error);
    return error ? 0 : size;
  }
  void remove(Uploads& all, const std::string& name) {
    const std::uint64_t size = size_of(directory / name);
    std::error_code error;
    if (fs::remove(directory / name, error)) bytes.fetch_sub(std::min(size, bytes.load()));
    all.forget(name);
  }
  // Deletes a few uploads at a time, because deleting takes disk time.
  void remove_old(Uploads& all, std::size_t count_max) {
    for (std::size_t i = 0; i < count_max; ++i) {
      const auto old = all.oldest(nullptr, FileClock::now() - options.keep);
      if (!old) return;
      remove(all, *old);
    }
  }
  // Makes room for one more upload of the owner.
  [[nodiscard]] Result<> make_room(Uploads& all, const std::string& owner) {
    const auto spare = FileClock::now() - options.spare;
    if (const auto own = all.of_owner.find(owner);
        own != all.of_owner.end() && own->second >= options.parts_of_owner_max) {
      const auto oldest = all.oldest(&owner, spare);
      if (!oldest)
        return fail(ErrorCode::resource_exhausted,
                    "{} uploads of this wallet are under way; finish one of them first.",
                    options.parts_of_owner_max);
      remove(all, *oldest);
    }
    if (all.files.size() >= options.parts_max) {
      const auto oldest = all.oldest(nullptr, spare);
      if (!oldest)
        return fail(ErrorCode::resource_exhausted,
                    "{} uploads are under way already; try again later.", options.parts_max);
      remove(all, *oldest);
    }
    return {};
  }
  // Admits the part that begins at `offset`; the upload is then busy.
  [[nodiscard]] Result<> admit(Uploads& all, const std::string& name, const std::string& owner,
                               std::uint64_t offset) {
    constexpr std::size_t removed_max = 4;
    remove_old(all, removed_max);
    if (!all.files.contains(name)) {
      if (offset > 0)
        return fail(ErrorCode::already_exists,
                    "0 bytes of the blob are stored; the part begins at {}.", offset);
      WEFT_OK(make_room(all, owner));
      all.add(name, FileClock::now());
    }
    if (std::exchange(all.files.at(name).busy, true))
      return fail(ErrorCode::already_exists,
                  "Another part of the blob is being uploaded; wait for its end.");
    return {};
  }
};

struct BlobParts::Part::State {
  std::shared_ptr<BlobParts::State> parts;
  Hash hash;
  std::string name;        // The name of the part's file.
  std::uint64_t size = 0;  // Number of its bytes that have arrived.
  std::uint64_t total = 0;
  std::uint64_t before = size;  // Size of the upload without this part.
  std::ofstream out{};

  ~State() {
    out.close();
    parts->uploads.with([&](Uploads& all) {
      const auto found = all.files.find(name);
      if (found == all.files.end()) return;
      std::error_code error;
      if (!fs::exists(path(), error)) return all.forget(name);
      found->second.busy = false;
      found->second.written = FileClock::now();
    });
  }
  [[nodiscard]] fs::path path() const { return parts->directory / name; }
  Result<> put_whole() {
    WEFT_ASSIGN(auto writer, parts->blobs.begin(hash, total));
    std::ifstream in(path(), std::ios::binary);
    std::vector<char> window(std::size_t{1} << 20);
    while (in.read(window.data(), static_cast<std::streamsize>(window.size())), in.gcount() > 0)
      WEFT_OK(writer.write(
          as_bytes(std::string_view(window.data(), static_cast<std::size_t>(in.gcount())))));
    WEFT_OK(writer.finish());
    return {};
  }
};

BlobParts::Part::Part(std::unique_ptr<State> state) : state_(std::move(state)) {}
BlobParts::Part::Part(Part&&) noexcept = default;
BlobParts::Part::~Part() = default;

Result<> BlobParts::Part::write(ByteSpan bytes) {
  if (bytes.size() > state_->total - state_->size)
    return fail(ErrorCode::resource_exhausted,
                "The blob has more than the {} bytes that it was announced with.", state_->total);
  auto& all = state_->parts->bytes;
  if (all.fetch_add(bytes.size()) + bytes.size() > state_->parts->options.bytes_max) {
    all.fetch_sub(bytes.size());
    return fail(ErrorCode::resource_exhausted,
                "Uploads that are not finished take more than {} bytes; --blobs-bytes-max raises "
                "the bound.",
                state_->parts->options.bytes_max);
  }
  const std::string_view text = as_text(bytes);
  state_->out.write(text.data(), static_cast<std::streamsize>(text.size()));
  if (!state_->out.flush()) {
    all.fetch_sub(bytes.size());
    return fail(ErrorCode::resource_exhausted, "Writing {} fails; the disk may be full.",
                state_->path().string());
  }
  state_->size += bytes.size();
  return {};
}

Result<std::uint64_t> BlobParts::Part::finish() {
  if (state_->size < state_->total) return state_->size;
  state_->out.close();
  const Result<> whole = state_->put_whole();
  // An upload with another hash is removed, because further bytes cannot make it right.
  if (whole || whole.error().code == ErrorCode::invalid_argument)
    state_->parts->uploads.with([&](Uploads& all) { state_->parts->remove(all, state_->name); });
  if (!whole) return std::unexpected(whole.error());
  return state_->total;
}

void BlobParts::Part::take_back() {
  state_->out.close();
  std::error_code error;
  fs::resize_file(state_->path(), state_->before, error);
  if (error) return;  // The bytes stay, and finish() will find that the hash is wrong.
  state_->parts->bytes.fetch_sub(state_->size - state_->before);
  state_->size = state_->before;
}

Result<std::unique_ptr<BlobParts>> BlobParts::open(Blobs& blobs, const fs::path& directory,
                                                   Options options) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error)
    return fail(ErrorCode::permission_denied, "The folder {} cannot be made: {}.",
                directory.string(), error.message());
  const auto state = std::make_shared<State>(blobs, directory, options);
  state->uploads.with([&](Uploads& all) {
    for (const fs::directory_entry& part : fs::directory_iterator(directory, error)) {
      state->bytes += State::size_of(part.path());
      all.add(part.path().filename().string(), part.last_write_time(error));
    }
    state->remove_old(all, all.files.size());
  });
  return std::unique_ptr<BlobParts>(new BlobParts(state));
}

BlobParts::BlobParts(std::shared_ptr<State> state) : state_(std::move(state)) {}
BlobParts::~BlobParts() = default;

std::uint64_t BlobParts::have(const Hash& hash, const std::string& owner) const {
  if (const auto size = state_->blobs.size(hash)) return *size;
  return State::size_of(state_->directory / State::name_of(hash, owner));
}

std::vector<BlobParts::Unfinished> BlobParts::unfinished_of(const std::string& owner) const {
  const std::vector<std::string> names =
      state_->uploads.with([&](const Uploads& all) { return all.names_of(owner); });
  std::vector<Unfinished> out;
  for (const std::string& name : names) {
    if (const auto hash = Hash::parse(std::string_view(name).substr(0, name.find('.'))))
      out.push_back({.hash = *hash, .bytes = State::size_of(state_->directory / name)});
  }
  return out;
}

Result<> BlobParts::remove_of(const std::string& owner) {
  return state_->uploads.with([&](Uploads& all) -> Result<> {
    const std::vector<std::string> names = all.names_of(owner);
    if (std::ranges::any_of(names, [&](const auto& name) { return all.files.at(name).busy; }))
      return fail(ErrorCode::unavailable,
                  "A part of a blob of {} is being uploaded: wait for its end, and ask again.",
                  owner);
    for (const std::string& name : names) state_->remove(all, name);
    return {};
  });
}

Result<BlobParts::Part> BlobParts::begin(const Hash& hash, const std::string& owner,
                                         std::uint64_t offset, std::uint64_t total) {
  const std::string name = State::name_of(hash, owner);
  WEFT_OK(
      state_->uploads.with([&](Uploads& all) { return state_->admit(all, name, owner, offset); }));
  auto part = std::make_unique<Part::State>(state_, hash, name,
                                            State::size_of(state_->directory / name), total);
  if (part->size != offset || offset > total)
    return fail(ErrorCode::already_exists,
                "{} bytes of the blob {} are stored; the part begins at {}.", part->size,
                hash.text(), offset);
  part->out.open(part->path(), std::ios::binary | std::ios::app);
  if (!part->out)
    return fail(ErrorCode::permission_denied, "The file {} cannot be written.",
                part->path().string());
  return Part(std::move(part));
}

}  // namespace weft::store
