// The wanted parts of a model's file. Chunks come from the host's storage or, if they are not
// stored, over HTTP, several at a time. Each chunk is checked by its SHA-256 before it is used.
//
//   auto weights = co_await Weights::open(host, file, digests_blob, token);
//   WEFT_CO_OK(co_await (*weights)->want({{0, header_bytes}}));
//
// Threading: the host's thread. Lifetime: the host outlives the Weights; answers that arrive after
// their end are dropped.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "worker/inference/serving_host.h"

namespace weft::worker {

// Fails with invalid_argument for a file that is too large to be served or has an invalid chunk
// size.
[[nodiscard]] Result<> check_model_file(const ModelFile& file);

struct FileRange {
  std::uint64_t first = 0;
  std::uint64_t bytes = 0;
};

class Weights : public std::enable_shared_from_this<Weights> {
 public:
  // `digests` is the blob with the SHA-256 of each chunk.
  [[nodiscard]] static Async<Result<std::shared_ptr<Weights>>> open(ServingHost& host,
                                                                    ModelFile file, Hash digests,
                                                                    std::string token);

  // Fetches all chunks that the ranges touch. Fails with data_loss if the coordinator's bytes do
  // not have the promised hash.
  [[nodiscard]] Async<Result<>> want(std::vector<FileRange> ranges);
  [[nodiscard]] std::uint64_t fetched_bytes() const { return fetched_bytes_; }

 private:
  struct Round {
    std::deque<std::uint32_t> chunks;
    std::size_t under_way = 0;
    Result<> result;
    Pending<bool> done;
  };

  Weights(ServingHost& host, ModelFile file, std::string token)
      : host_(host), file_(file), token_(std::move(token)), have_(file.chunks()) {}
  static Async<> work(std::shared_ptr<Weights> self, std::shared_ptr<Round> round);
  [[nodiscard]] Async<Result<>> bring(std::uint32_t chunk);
  [[nodiscard]] Async<Result<ByteVector>> fetch(std::uint32_t chunk);
  [[nodiscard]] bool fits(std::uint32_t chunk, ByteSpan bytes) const;

  ServingHost& host_;
  const ModelFile file_;
  const std::string token_;
  std::vector<Hash> digests_;
  std::vector<bool> have_;
  std::uint64_t fetched_bytes_ = 0;
};

}  // namespace weft::worker
