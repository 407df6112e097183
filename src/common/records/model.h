// The coordinator's record of a model: its file as blobs, and the sizes by which its layers are
// spread over workers. `weft model add` makes it from the file. Workers check the bytes, so a model
// with a wrong record does not load.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/ids.h"

namespace weft::store {

// The width of most of a file's weights: more than 8 bits, as F16, BF16 and F32 have, or fewer.
// Unknown for encoders, for ONNX models, and for models that were added before this was recorded.
enum class WeightWidth : std::uint8_t { unknown = 0, narrow = 1, wide = 2 };

struct Model {
  std::string name;
  std::string file;    // SHA-256 of the GGUF file, a blob.
  std::string chunks;  // Blob of the SHA-256 hashes of all chunks, in order.
  std::uint64_t bytes = 0;
  std::uint64_t header_bytes = 0;  // Bytes of the file before the tensors' data.
  std::uint32_t chunk_bytes = 0;
  std::string architecture;
  std::uint32_t layers = 0;
  std::uint32_t embedding = 0;
  std::uint32_t vocabulary = 0;
  std::uint32_t context = 0;
  std::uint64_t layer_bytes = 0;  // Bytes of the largest layer.
  std::uint64_t first_bytes = 0;  // Additional bytes of the first layer's holder: the embedding.
  std::uint64_t last_bytes = 0;   // Additional bytes of the last layer's holder: the head.
  std::uint64_t cache_bytes = 0;  // Bytes of the cache for each position and layer.
  std::uint32_t shards_min = 1;   // The least number of workers of a chain.
  MicroCredits price = 0;         // The price of 1,000 tokens, of the prompt or the answer.
  // The type of hidden states between workers: "f32", "f16" or "i8"; empty: the coordinator's
  // default.
  std::string wire{};
  std::int64_t created = 0;  // Milliseconds since 1970.
  std::string owner;         // The key of the client that added the model.
  WeightWidth weights = WeightWidth::unknown;

  [[nodiscard]] Hash file_hash() const { return Hash::parse(file).value(); }
  [[nodiscard]] Hash chunks_hash() const { return Hash::parse(chunks).value(); }
  friend bool operator==(const Model&, const Model&) = default;
};

}  // namespace weft::store
