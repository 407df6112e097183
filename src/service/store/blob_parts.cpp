#include "service/store/blob_parts.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <set>
#include <utility>

#include "common/base/guarded.h"

namespace weft::store {

namespace fs = std::filesystem;

struct BlobParts::State {
  Blobs& blobs;
  fs::path directory;
  Options options;
  std::atomic<std::uint64_t> bytes = 0;  // Of all parts.
  Guarded<std::set<std::string>> busy;   // Files that a Part writes.

  [[nodiscard]] fs::path file_of(const Hash& hash, const std::string& owner) const { return directory / (hash.text() + "." + owner); }
  [[nodiscard]] static std::uint64_t size_of(const fs::path& file) {
    std::error_code error;
    const std::uint64_t size = fs::file_size(file, error);
    return error ? 0 : size;
  }
  void remove(const fs::path& file) {
    const std::uint64_t size = size_of(file);
    std::error_code error;
    if (fs::remove(file, error)) bytes.fetch_sub(std::min(size, bytes.load()));
  }
  void remove_old() {
    std::error_code error;
    for (const fs::directory_entry& part : fs::directory_iterator(directory, error)) {
      const auto written = part.last_write_time(error);
      if (error || fs::file_time_type::clock::now() - written < options.keep) continue;
      if (!busy.with([&](const auto& files) { return files.contains(part.path().string()); })) remove(part.path());
    }
  }
};

struct BlobParts::Part::State {
  std::shared_ptr<BlobParts::State> parts;
  Hash hash;
  fs::path path;
  std::uint64_t size = 0;  // That is here.
  std::uint64_t total = 0;
  std::ofstream out{};

  ~State() {
    out.close();
    parts->busy.with([&](auto& files) { files.erase(path.string()); });
  }
  Result<> put_whole() {
    WEFT_ASSIGN(auto writer, parts->blobs.begin(hash, total));
    std::ifstream in(path, std::ios::binary);
    std::vector<char> window(std::size_t{1} << 20);
    while (in.read(window.data(), static_cast<std::streamsize>(window.size())), in.gcount() > 0)
      WEFT_OK(writer.write(as_bytes(std::string_view(window.data(), static_cast<std::size_t>(in.gcount())))));
    WEFT_OK(writer.finish());
    return {};
  }
};

BlobParts::Part::Part(std::unique_ptr<State> state) : state_(std::move(state)) {}
BlobParts::Part::Part(Part&&) noexcept = default;
BlobParts::Part::~Part() = default;

Result<> BlobParts::Part::write(ByteSpan bytes) {
  if (bytes.size() > state_->total - state_->size)
    return fail(ErrorCode::resource_exhausted, "The blob has more than the {} bytes that it was announced with.", state_->total);
  auto& all = state_->parts->bytes;
  if (all.fetch_add(bytes.size()) + bytes.size() > state_->parts->options.bytes_max) {
    all.fetch_sub(bytes.size());
    return fail(ErrorCode::resource_exhausted, "Uploads that are not finished take more than {} bytes; --blob-bytes-max raises the bound.",
                state_->parts->options.bytes_max);
  }
  state_->out.write(as_text(bytes).data(), static_cast<std::streamsize>(bytes.size()));
  if (!state_->out.flush()) {
    all.fetch_sub(bytes.size());
    return fail(ErrorCode::resource_exhausted, "Writing {} fails: is the disk full?", state_->path.string());
  }
  state_->size += bytes.size();
  return {};
}

Result<std::uint64_t> BlobParts::Part::finish() {
  if (state_->size < state_->total) return state_->size;
  state_->out.close();
  const Result<> whole = state_->put_whole();
  // What has another hash never gets the right one.
  if (whole || whole.error().code == ErrorCode::invalid_argument) state_->parts->remove(state_->path);
  if (!whole) return std::unexpected(whole.error());
  return state_->total;
}

Result<std::unique_ptr<BlobParts>> BlobParts::open(Blobs& blobs, const fs::path& directory, Options options) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) return fail(ErrorCode::permission_denied, "The folder {} cannot be made: {}.", directory.string(), error.message());
  const auto state = std::make_shared<State>(blobs, directory, options);
  for (const fs::directory_entry& part : fs::directory_iterator(directory, error)) state->bytes += State::size_of(part.path());
  state->remove_old();
  return std::unique_ptr<BlobParts>(new BlobParts(state));
}

BlobParts::BlobParts(std::shared_ptr<State> state) : state_(std::move(state)) {}
BlobParts::~BlobParts() = default;

std::uint64_t BlobParts::have(const Hash& hash, const std::string& owner) const {
  if (const auto size = state_->blobs.size(hash)) return *size;
  return State::size_of(state_->file_of(hash, owner));
}

Result<BlobParts::Part> BlobParts::begin(const Hash& hash, const std::string& owner, std::uint64_t offset, std::uint64_t total) {
  state_->remove_old();
  const fs::path path = state_->file_of(hash, owner);
  if (!state_->busy.with([&](auto& files) { return files.insert(path.string()).second; }))
    return fail(ErrorCode::already_exists, "Another part of the blob {} is on its way.", hash.text());
  auto part = std::make_unique<Part::State>(state_, hash, path, State::size_of(path), total);
  if (part->size != offset || offset > total)
    return fail(ErrorCode::already_exists, "{} bytes of the blob {} are here; the part begins at {}.", part->size, hash.text(), offset);
  part->out.open(path, std::ios::binary | std::ios::app);
  if (!part->out) return fail(ErrorCode::permission_denied, "The file {} cannot be written.", path.string());
  return Part(std::move(part));
}

}  // namespace weft::store
