// Large blobs that arrive in parts, so that an interrupted upload continues at its end.
// DIR/HASH.OWNER holds the bytes of a blob that have arrived. Each uploader has a file of its own,
// so that no uploader can corrupt another's. The hash of the whole is checked after the last part;
// until then only the uploader sees the bytes.
//
// The bytes survive restarts, but not a loss of power: then the whole does not have its hash, and
// the upload starts again. Threading: every function may be called from any thread; a Part belongs
// to one thread at a time. begin() and have() list no folder, because the uploads are known in
// memory. Lifetime: the Blobs outlive this object and its Parts. Bounds: bytes_max for all parts
// together, parts_max uploads, and parts_of_owner_max for one owner. An upload that was not
// continued for `keep` is removed. If there are too many, the oldest one that was not continued for
// `spare` is removed.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "platform/store/blobs.h"

namespace weft::store {

class BlobParts {
 public:
  struct Options {
    std::uint64_t bytes_max = std::uint64_t{64} << 30;
    std::chrono::seconds keep = std::chrono::hours(24);
    std::size_t parts_max = 4096;
    std::size_t parts_of_owner_max = 64;
    std::chrono::seconds spare = std::chrono::minutes(10);
  };
  // Receives the bytes from one offset on. Without finish() the received bytes stay.
  class Part {
   public:
    Part(Part&&) noexcept;
    ~Part();
    // Fails with resource_exhausted beyond the announced length, or if all parts together take too
    // much.
    [[nodiscard]] Result<> write(ByteSpan bytes);
    // Returns the number of bytes that have arrived. The last part adds the whole blob to Blobs; if
    // the whole does not have its hash, it fails with invalid_argument and the bytes are removed.
    [[nodiscard]] Result<std::uint64_t> finish();
    // Called instead of finish(): removes the bytes that this part wrote.
    void take_back();

   private:
    friend class BlobParts;
    struct State;
    explicit Part(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
  };

  // Creates the folder if needed and removes uploads that are too old.
  [[nodiscard]] static Result<std::unique_ptr<BlobParts>> open(
      Blobs& blobs, const std::filesystem::path& directory, Options options);
  ~BlobParts();

  // The number of bytes that have arrived from `owner` (a key as text); the whole size if the blob
  // is stored.
  [[nodiscard]] std::uint64_t have(const Hash& hash, const std::string& owner) const;
  // An upload of `owner` that is not finished, and the number of bytes that have arrived.
  struct Unfinished {
    Hash hash;
    std::uint64_t bytes = 0;
  };
  [[nodiscard]] std::vector<Unfinished> unfinished_of(const std::string& owner) const;
  // Removes all unfinished uploads of the owner. Fails with unavailable, and removes no upload,
  // while a part of such an upload is arriving.
  [[nodiscard]] Result<> remove_of(const std::string& owner);
  // Begins a part. Fails with already_exists if `offset` is not have() or another part of the blob
  // is arriving, and with resource_exhausted if there are too many uploads and none may be removed.
  [[nodiscard]] Result<Part> begin(const Hash& hash, const std::string& owner, std::uint64_t offset,
                                   std::uint64_t total);

 private:
  struct State;
  explicit BlobParts(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace weft::store
