// Stores small blobs one after another in a few large files, so that thousands of them become
// durable with one write and one fdatasync. Readers see a blob as soon as it is added. It is
// durable after the next sync(), which the code that acknowledges the blob calls first
// (GroupCommit::Options::before_commit). Until then it waits in memory, with its disk space
// allocated: a thread that adds never waits for a page that is being written to the disk.
//
// A file DIR/NNNNNN is a sequence of records. A record is a head of 44 bytes (kind, size, SHA-256,
// and a check of size and SHA-256) and the bytes of the blob. After a sync a mark record is
// appended that states up to which offset the file is durable. open() hashes only the blobs after
// the last such offset and skips blobs that a crash damaged. A process appends only to files that
// it created. The index is in memory: about 80 bytes a blob.
//
// Threading: all functions may be called from any thread. Fails with resource_exhausted if the disk
// is full, and with data_loss if the disk fails.
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
    std::uint64_t file_bytes_max = std::uint64_t{1} << 30;  // A new file begins after this size.
    std::size_t waiting_bytes_max = 8 << 20;  // The adding thread writes waiting blobs above this.
    std::function<Instant()> clock = [] { return now(); };  // Gives the time of a blob's use.
  };
  struct Place {
    std::uint32_t file = 0;
    std::uint32_t size = 0;
    std::uint64_t offset = 0;
    friend bool operator==(const Place&, const Place&) = default;
  };

  // Creates the folder if needed and reads the heads of the records in its files.
  [[nodiscard]] static Result<std::unique_ptr<BlobPack>> open(
      const std::filesystem::path& directory, Options options);
  BlobPack(const BlobPack&) = delete;
  ~BlobPack();

  // Returns false if the blob was already stored.
  [[nodiscard]] Result<bool> add(const Hash& hash, ByteSpan bytes);
  // All blobs that were added before the call are durable when it returns.
  [[nodiscard]] Result<> sync();

  // Counts as a use of the blob, as add() does.
  [[nodiscard]] std::optional<Place> find(const Hash& hash) const;
  // Fails with not_found if compact() has moved the blob since find().
  [[nodiscard]] Result<ByteVector> read(const Place& place, std::uint64_t offset,
                                        std::uint64_t size) const;
  // The file that contains the blob, with the waiting bytes written to it, for readers other than
  // this pack.
  [[nodiscard]] Result<std::filesystem::path> file_of(const Place& place) const;
  // Removes the blob, durable on return; its bytes stay in the file. Returns false if it is not
  // stored.
  [[nodiscard]] Result<bool> remove(const Hash& hash);

  // The blobs that were not used since `since`, in no order. open() counts as a use of every blob.
  [[nodiscard]] std::vector<Hash> unused(Instant since) const;
  struct Collected {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
  };
  // Removes those of `hashes` that were not used since `since`; a crash may bring them back.
  Collected collect(std::span<const Hash> hashes, Instant since);
  // Copies the remaining blobs of one file of which more than half is unused, and deletes the files
  // that had no blob left two calls before, so that a reader that has just found a blob can still
  // read it.
  [[nodiscard]] Result<> compact();

  [[nodiscard]] std::uint64_t bytes() const;
  [[nodiscard]] std::uint64_t count() const;

 private:
  struct State;
  explicit BlobPack(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace weft::store
