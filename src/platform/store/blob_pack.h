// Small blobs one after the other in a few large files, so that thousands of them become durable
// with one write and one fdatasync. A blob is there for readers as soon as it is added, and durable
// after the next sync(), which the code that acknowledges it calls first
// (GroupCommit::Options::before_commit). Until then it waits in memory, its room on the disk set
// aside: a thread that adds never waits for a page that is on its way to the disk.
//
// A file DIR/NNNNNN is a row of records: a head of 44 bytes (kind, size, SHA-256, a check of those
// two) and the bytes. After a sync a mark is appended that says up to where; at the start only what
// stands behind that is hashed, and what a crash tore there is passed over. A process appends to
// files of its own only. The index is in memory: about 80 bytes a blob.
//
// Threading: everything from any thread. Errors: resource_exhausted for a full disk, data_loss for
// one that fails.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/base/result.h"

namespace weft::store {

class BlobPack {
 public:
  struct Options {
    std::uint64_t file_bytes_max = std::uint64_t{1} << 30;  // Then the next file begins.
    std::size_t waiting_bytes_max = 8 << 20;  // Past this the adding thread writes them first.
    std::function<Instant()> clock = [] { return now(); };  // When a blob is used.
  };
  struct Place {
    std::uint32_t file = 0;
    std::uint32_t size = 0;
    std::uint64_t offset = 0;
    friend bool operator==(const Place&, const Place&) = default;
  };

  // Makes the folder; reads the heads of what is there.
  [[nodiscard]] static Result<std::unique_ptr<BlobPack>> open(
      const std::filesystem::path& directory, Options options);
  BlobPack(const BlobPack&) = delete;
  ~BlobPack();

  // False where it was there already.
  [[nodiscard]] Result<bool> add(const Hash& hash, ByteSpan bytes);
  // What was added before is durable when it returns.
  [[nodiscard]] Result<> sync();

  // Counts as a use of the blob, as add() does.
  [[nodiscard]] std::optional<Place> find(const Hash& hash) const;
  // not_found if the blob was moved by compact() since.
  [[nodiscard]] Result<ByteVector> read(const Place& place, std::uint64_t offset,
                                        std::uint64_t size) const;
  // The file where it lies, written as far as that; for a reader other than this pack.
  [[nodiscard]] Result<std::filesystem::path> file_of(const Place& place) const;
  // Durable on return. Its bytes stay in the file, unnamed. False where it is not there.
  [[nodiscard]] Result<bool> remove(const Hash& hash);

  // Those that were not used since `since`, in no order. Blobs that were there at open() count as
  // used then.
  [[nodiscard]] std::vector<Hash> unused(Instant since) const;
  struct Collected {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
  };
  // Removes those of `hashes` that are still unused; a crash may bring them back.
  Collected collect(std::span<const Hash> hashes, Instant since);
  // Copies what is left of one file that is more than half unnamed, and removes the files of which
  // nothing was left two calls before: a reader that has just found a place still finds its bytes.
  [[nodiscard]] Result<> compact();

  [[nodiscard]] std::uint64_t bytes() const;
  [[nodiscard]] std::uint64_t count() const;

 private:
  struct State;
  explicit BlobPack(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace weft::store
