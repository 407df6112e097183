// Reads a GGUF file (versions 2 and 3, little-endian): its metadata and the positions of its
// tensors. Every tensor of a File lies within the source, is aligned and overlaps no other tensor.
// Memory is allocated only in proportion to the bytes of the file.
//
//   WEFT_ASSIGN(auto source, MappedFile::open(path));
//   WEFT_ASSIGN(const File file, read_file(*source));
//   if (const Tensor* tensor = file.find_tensor("output_norm.weight"))
//     source->view(tensor->offset, tensor->bytes);
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/base/result.h"
#include "engine/gguf/metadata.h"
#include "engine/gguf/source.h"
#include "engine/gguf/tensor_type.h"

namespace weft::gguf {

struct Tensor {
  static constexpr std::size_t dimensions_max = 4;

  std::string name;
  TensorType type = TensorType::f32;
  std::uint32_t dimension_count = 0;
  std::array<std::uint64_t, dimensions_max> dimensions{
      1, 1, 1, 1};           // Innermost first: a row has dimensions[0] elements.
  std::uint64_t offset = 0;  // The offset of the tensor in the source.
  std::uint64_t bytes = 0;

  [[nodiscard]] std::uint64_t elements() const {
    return dimensions[0] * dimensions[1] * dimensions[2] * dimensions[3];
  }
  [[nodiscard]] std::uint64_t rows() const { return dimensions[1] * dimensions[2] * dimensions[3]; }
  [[nodiscard]] std::uint64_t row_bytes() const {
    return dimensions[0] / info(type).block_elements * info(type).block_bytes;
  }
};

// Limits far above any real file and low enough that a hostile file cannot exhaust memory.
struct Limits {
  std::uint64_t metadata_count_max = 1u << 16;
  std::uint64_t tensor_count_max = 1u << 17;
  // The most bytes before the data of the tensors.
  std::uint64_t header_bytes_max = std::uint64_t{1} << 28;
  std::uint64_t key_bytes_max = 65535;         // The limit that the GGUF format sets.
  std::uint64_t tensor_name_bytes_max = 64;    // The limit that the GGUF format sets.
  std::uint64_t nested_arrays_max = 1u << 16;  // The most arrays within arrays, in the whole file.
  std::uint32_t array_depth_max = 4;
};

struct File {
  std::uint32_t version = 3;
  std::uint64_t alignment = 32;
  Metadata metadata;
  std::vector<Tensor> tensors;  // The tensors in the order of the file.
  std::uint64_t data_offset = 0;
  std::uint64_t file_bytes = 0;

  // Returns nullptr if no tensor has this name.
  [[nodiscard]] const Tensor* find_tensor(std::string_view name) const;

  // The index in `tensors` by name; filled by read_file().
  std::unordered_map<std::string, std::size_t> tensor_index;
};

// Fails with invalid_argument; the message is one sentence that names the position.
[[nodiscard]] Result<File> read_file(const Source& source, const Limits& limits = {});

}  // namespace weft::gguf
