// Reads .onnx files and serialised tensors (.pb) from bytes, with protozero. Everything is bounded;
// each failure is one sentence that says what is wrong and where.
//
// Format: onnx/onnx, onnx.proto3 (ModelProto, GraphProto, NodeProto, TensorProto). Opset 1 and 7
// to 27 of the domain ai.onnx.
#pragma once

#include <functional>

#include "engine/onnx/model.h"

namespace weft::onnx {

inline constexpr std::int64_t opset_max = 27;

struct ReadBounds {
  std::size_t nodes_max = 100'000;
  std::size_t tensors_max = 100'000;
  std::size_t list_max = 1 << 20;  // Elements of an attribute; values of a node.
  std::size_t name_bytes_max = 4096;
};

// Gives `bytes` bytes of the file `location` (relative to the model) from `offset` on; without a
// length, all to its end.
using ExternalData = std::function<Result<ByteVector>(
    const std::string& location, std::uint64_t offset, std::optional<std::uint64_t> bytes)>;

// Fails with invalid_argument (not a model), unsupported (an opset or type that is not known) or
// resource_exhausted (bounds). Without `external`, a tensor with external data is an error.
[[nodiscard]] Result<Model> read_model(ByteSpan bytes, const ExternalData& external = {},
                                       const ReadBounds& bounds = {});

// One serialised TensorProto with its name.
struct NamedTensor {
  std::string name;
  Tensor tensor;
};
[[nodiscard]] Result<NamedTensor> read_tensor(ByteSpan bytes, const ExternalData& external = {},
                                              const ReadBounds& bounds = {});
// The reverse, with raw data.
[[nodiscard]] ByteVector write_tensor(const std::string& name, const Tensor& tensor);

}  // namespace weft::onnx
