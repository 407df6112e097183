// The platform functions that serving needs besides a worker's Host: ranges of blobs, storage for a
// model's chunks, and engines on this machine's device. As with Host, all calls and callbacks are
// on one thread, and no callback runs inside the call.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/base/async.h"
#include "engine/gguf/source.h"
#include "engine/llm/encoders/encoder.h"
#include "engine/llm/engine.h"
#include "engine/llm/models/model.h"
#include "worker/tasks/host.h"

namespace weft::worker {

// A model's file, cut into chunks of one size (the last one may be shorter).
struct ModelFile {
  Hash hash;
  std::uint64_t bytes = 0;
  std::uint32_t chunk_bytes = 0;

  [[nodiscard]] std::uint32_t chunks() const {
    return static_cast<std::uint32_t>((bytes + chunk_bytes - 1) / chunk_bytes);
  }
  [[nodiscard]] std::uint64_t chunk_begin(std::uint32_t chunk) const {
    return std::uint64_t{chunk} * chunk_bytes;
  }
  [[nodiscard]] std::uint64_t chunk_size(std::uint32_t chunk) const {
    return std::min<std::uint64_t>(chunk_bytes, bytes - chunk_begin(chunk));
  }
};

class ServingHost : public Host {
 public:
  // Sends GET /v1/blobs/{hash} with a Range.
  virtual void fetch_range(const Hash& blob, std::uint64_t first, std::uint64_t count,
                           std::string token, std::function<void(Result<ByteVector>)> done) = 0;

  // Reads a chunk that was written earlier, possibly by an earlier process; nullopt if it is not
  // stored. The caller must check the bytes.
  virtual void read_chunk(const ModelFile& file, std::uint32_t chunk,
                          std::function<void(std::optional<ByteVector>)> done) = 0;
  virtual void write_chunk(const ModelFile& file, std::uint32_t chunk, ByteVector bytes,
                           std::function<void(Result<>)> done) = 0;
  // Opens the chunks that were read or written as a file; reading other chunks fails.
  [[nodiscard]] virtual Result<std::unique_ptr<gguf::Source>> open_file(const ModelFile& file) = 0;

  // `model` and `source` outlive the engine.
  [[nodiscard]] virtual Async<Result<std::unique_ptr<llm::Engine>>> create_engine(
      const llm::Model& model, const gguf::Source& source, llm::EngineOptions options) = 0;
  // `model` and `source` outlive the encoder. The default runs it on the CPU and blocks the thread
  // for a whole call.
  [[nodiscard]] virtual Async<Result<std::unique_ptr<llm::Encoder>>> create_encoder(
      const llm::EncoderModel& model, const gguf::Source& source) {
    co_return llm::Encoder::create(model, source);
  }
};

}  // namespace weft::worker
