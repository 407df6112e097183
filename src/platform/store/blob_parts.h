// Large blobs that come in parts, so that an upload that was cut off continues where it ended:
// DIR/HASH.OWNER is what of a blob is here. Each uploader has a file of its own, so that no
// uploader can spoil another's. The hash is checked over the whole when the last part is in; before
// that, only the uploader sees anything.
//
// What is here survives restarts, not a loss of power: then the whole does not have its hash, and
// the upload begins from the start. Threading: everything is safe from any thread; a Part belongs
// to one at a time. begin() and have() list no folder: what there is is known. Lifetime: the blobs
// outlive it and its Parts. Bounds: bytes_max for all parts together, parts_max uploads and
// parts_of_owner_max for one owner. An upload that did not continue for `keep` is removed; if there
// are too many, one that did not continue for `spare`, the oldest first.
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
  // Takes the bytes from one position on. Destroyed before finish(), what came stays.
  class Part {
   public:
    Part(Part&&) noexcept;
    ~Part();
    // resource_exhausted past the announced length, or where all parts take too much.
    [[nodiscard]] Result<> write(ByteSpan bytes);
    // How many bytes are here now. With the last one the whole is put among the blobs;
    // invalid_argument, and nothing is kept, where it does not have its hash.
    [[nodiscard]] Result<std::uint64_t> finish();
    // Instead: what this part wrote goes.
    void take_back();

   private:
    friend class BlobParts;
    struct State;
    explicit Part(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
  };

  // Makes the folder and removes what is too old.
  [[nodiscard]] static Result<std::unique_ptr<BlobParts>> open(
      Blobs& blobs, const std::filesystem::path& directory, Options options);
  ~BlobParts();

  // Bytes that are here of what `owner` (a key as text) sends; all of it where the blob is there.
  [[nodiscard]] std::uint64_t have(const Hash& hash, const std::string& owner) const;
  // An upload of `owner` that is not finished, and how many of its bytes are here.
  struct Unfinished {
    Hash hash;
    std::uint64_t bytes = 0;
  };
  [[nodiscard]] std::vector<Unfinished> unfinished_of(const std::string& owner) const;
  // Removes all of them. unavailable, and nothing is removed, while a part of one is on its way.
  [[nodiscard]] Result<> remove_of(const std::string& owner);
  // already_exists if the part does not begin at have(), or another one is on its way;
  // resource_exhausted if there are too many uploads and none gives way.
  [[nodiscard]] Result<Part> begin(const Hash& hash, const std::string& owner, std::uint64_t offset,
                                   std::uint64_t total);

 private:
  struct State;
  explicit BlobParts(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace weft::store
