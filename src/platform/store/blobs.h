// Blobs as files: DIR/ab/cdef..., named by the SHA-256 of the plaintext. The first byte of a file
// is a version (1: the plaintext follows), so that encryption at rest can be added without a
// migration. Small blobs that are added, not put, go into packs (blob_pack.h, DIR/pack).
//
// A put is durable when it returns: temporary file, fdatasync, rename, fsync of the folder. An
// added blob is durable after the next sync(). open() removes the leftovers of a crash. Sizes and
// offsets are those of the plaintext.
//
// Each call that puts, finds or reads a blob counts as a use of it; open() counts as a use of every
// blob. collect() removes blobs that were not used for a while and that its caller has found to be
// named by no row (apps/coordinator/blob_sweep.h). Threading: every function may be called from any
// thread; a Writer belongs to one thread at a time.
#pragma once

#include <atomic>
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
#include "platform/store/room.h"

namespace weft::store {

class Blobs {
 public:
  struct Options {
    // The most bytes of all blobs together (--blobs-bytes-max).
    std::uint64_t bytes_max = std::uint64_t{64} << 30;
    Room::Shares shares = {};                   // The shares of free room that strangers may use.
    std::uint64_t packed_bytes_max = 64 << 10;  // The largest blob that add() stores in a pack.
    // Gives the time at which a blob is used.
    std::function<Instant()> clock = [] { return now(); };
  };
  // Receives a blob in pieces. Without finish() no blob is stored.
  class Writer {
   public:
    Writer(Writer&&) noexcept;
    ~Writer();
    // Fails with resource_exhausted beyond the bound given to begin() or beyond bytes_max.
    [[nodiscard]] Result<> write(ByteSpan bytes);
    // Stores the blob, durable on return. Fails with invalid_argument if the bytes do not have the
    // expected hash.
    [[nodiscard]] Result<Hash> finish();

   private:
    friend class Blobs;
    struct State;
    explicit Writer(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
  };

  // Creates the folder if needed, removes leftovers of a crash, and sums the sizes of the stored
  // blobs.
  [[nodiscard]] static Result<std::unique_ptr<Blobs>> open(const std::filesystem::path& directory,
                                                           Options options);
  Blobs(const Blobs&) = delete;
  ~Blobs();

  // Stores a blob and returns its hash. A blob that is already stored is no error.
  [[nodiscard]] Result<Hash> put(ByteSpan bytes);
  // Stores many blobs with one fsync for each folder. `wanted` names the owner of the room
  // (room()).
  [[nodiscard]] Result<std::vector<Hash>> put_all(std::span<const ByteSpan> blobs,
                                                  const std::optional<Room::For>& wanted = {});
  // Adds many blobs that need not be durable yet. The caller calls sync() before it acknowledges
  // any of them. Large blobs are put.
  [[nodiscard]] Result<std::vector<Hash>> add_all(std::span<const ByteSpan> blobs,
                                                  const std::optional<Room::For>& wanted = {});
  [[nodiscard]] Result<Hash> add(ByteSpan bytes);
  [[nodiscard]] Result<> sync();
  [[nodiscard]] Result<Writer> begin(const Hash& expected, std::uint64_t bytes_max,
                                     const std::optional<Room::For>& wanted = {});

  [[nodiscard]] bool has(const Hash& hash) const;
  // Fails with not_found for an unknown blob, data_loss for a file that does not have the form of a
  // blob.
  [[nodiscard]] Result<std::uint64_t> size(const Hash& hash) const;
  // Reads a whole blob. Fails with data_loss if the bytes no longer have their hash.
  [[nodiscard]] Result<ByteVector> read(const Hash& hash) const;
  // Reads a part without checking the hash. Fails with invalid_argument if [offset, offset + size)
  // is not within the blob.
  [[nodiscard]] Result<ByteVector> read(const Hash& hash, std::uint64_t offset,
                                        std::uint64_t size) const;
  // The position of the plaintext in a file, so that it can be sent without being read. Fails with
  // not_found for an unknown blob.
  struct Location {
    std::filesystem::path path;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
  };
  [[nodiscard]] Result<Location> location(const Hash& hash) const;
  [[nodiscard]] Result<> remove(const Hash& hash);

  // The blobs that were not used since `since`, in no order.
  [[nodiscard]] std::vector<Hash> unused(Instant since) const;
  struct Collected {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
  };
  // Removes those of `hashes` that were not used since `since`; a blob that is put or found
  // meanwhile stays. A crash may bring removed blobs back.
  Collected collect(std::span<const Hash> hashes, Instant since);
  // Frees the disk space of collected blobs in packs, one file a call (blob_pack.h).
  [[nodiscard]] Result<> compact();

  // The blobs that have a file of their own because they were put, in no order.
  [[nodiscard]] std::vector<Hash> files() const;
  // The bytes that are used, and those that are reserved for running jobs.
  [[nodiscard]] Room& room();
  // The plaintext bytes of all blobs, and the number of blobs.
  [[nodiscard]] std::uint64_t bytes_total() const;
  [[nodiscard]] std::uint64_t count() const;

 private:
  struct State;
  explicit Blobs(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;  // The writers share it.
};

}  // namespace weft::store
