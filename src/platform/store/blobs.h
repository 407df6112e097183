// Blobs as files: DIR/ab/cdef..., named by the SHA-256 of the plaintext. The first byte of a file
// is a version (1: the plaintext follows), so that encryption at rest can come without a migration.
// Small ones that are added, rather than put, go into packs (blob_pack.h, DIR/pack).
//
// A put is durable when it returns: written beside, fdatasync, rename, fsync of the folder. What is
// added is durable after the next sync(). What a crash leaves behind is removed by open(). Sizes
// and offsets are of the plaintext.
//
// Each call that puts, finds or reads a blob counts as a use of it, and so does open() for all.
// collect() removes blobs that were not used for a while, which its caller found to have no name
// (apps/coordinator/blob_sweep.h). Threading: everything is safe from any thread; a Writer belongs
// to one at a time.
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
    std::uint64_t bytes_max = std::uint64_t{64} << 30;  // All blobs together; --blobs-bytes-max.
    Room::Shares shares = {};                           // What strangers take of free room.
    std::uint64_t packed_bytes_max = 64 << 10;          // Larger ones are files of their own.
    std::function<Instant()> clock = [] { return now(); };  // When a blob is used.
  };
  // Takes a blob in pieces. Destroyed before finish() it leaves nothing.
  class Writer {
   public:
    Writer(Writer&&) noexcept;
    ~Writer();
    // resource_exhausted past the bound given to begin() or past bytes_max.
    [[nodiscard]] Result<> write(ByteSpan bytes);
    // invalid_argument if the bytes do not have the expected hash. Durable on return.
    [[nodiscard]] Result<Hash> finish();

   private:
    friend class Blobs;
    struct State;
    explicit Writer(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
  };

  // Makes the folder, removes leftovers, adds up what is there.
  [[nodiscard]] static Result<std::unique_ptr<Blobs>> open(const std::filesystem::path& directory,
                                                           Options options);
  Blobs(const Blobs&) = delete;
  ~Blobs();

  // The hash of the bytes; there already is fine.
  [[nodiscard]] Result<Hash> put(ByteSpan bytes);
  // Many with one fsync a folder. `wanted`: whose room they take (room()).
  [[nodiscard]] Result<std::vector<Hash>> put_all(std::span<const ByteSpan> blobs,
                                                  const std::optional<Room::For>& wanted = {});
  // Adds many that need not be durable yet. The caller calls sync() before it acknowledges any of
  // them. Large ones are put.
  [[nodiscard]] Result<std::vector<Hash>> add_all(std::span<const ByteSpan> blobs,
                                                  const std::optional<Room::For>& wanted = {});
  [[nodiscard]] Result<Hash> add(ByteSpan bytes);
  [[nodiscard]] Result<> sync();
  [[nodiscard]] Result<Writer> begin(const Hash& expected, std::uint64_t bytes_max,
                                     const std::optional<Room::For>& wanted = {});

  [[nodiscard]] bool has(const Hash& hash) const;
  // not_found; data_loss for a file that is no blob of ours.
  [[nodiscard]] Result<std::uint64_t> size(const Hash& hash) const;
  // Whole; data_loss if the bytes no longer have their hash.
  [[nodiscard]] Result<ByteVector> read(const Hash& hash) const;
  // A part, unchecked: [offset, offset + size) must lie within (invalid_argument).
  [[nodiscard]] Result<ByteVector> read(const Hash& hash, std::uint64_t offset,
                                        std::uint64_t size) const;
  // Where the plaintext lies in a file, for sending it without reading it. not_found if there is
  // none.
  struct Location {
    std::filesystem::path path;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
  };
  [[nodiscard]] Result<Location> location(const Hash& hash) const;
  [[nodiscard]] Result<> remove(const Hash& hash);

  // Those that were not used since `since`, in no order.
  [[nodiscard]] std::vector<Hash> unused(Instant since) const;
  struct Collected {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
  };
  // Removes those of `hashes` that are still unused: one that is put or found meanwhile stays. A
  // crash may bring removed ones back.
  Collected collect(std::span<const Hash> hashes, Instant since);
  // Gives the room of collected blobs in packs back to the disk, one file a call (blob_pack.h).
  [[nodiscard]] Result<> compact();

  // Those with a file of their own: what was put. In no order.
  [[nodiscard]] std::vector<Hash> files() const;
  // What is used, and what is set aside for running jobs.
  [[nodiscard]] Room& room();
  // Plaintext bytes of all blobs, and how many there are.
  [[nodiscard]] std::uint64_t bytes_total() const;
  [[nodiscard]] std::uint64_t count() const;

 private:
  struct State;
  explicit Blobs(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;  // Writers share it.
};

}  // namespace weft::store
