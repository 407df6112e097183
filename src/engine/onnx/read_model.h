// Reads .onnx files and serialised tensors (.pb) from bytes, with protozero. All sizes are bounded,
// and the message of each error is one sentence that says what is wrong and where in the file.
//
// Format: onnx/onnx, onnx.proto3 (ModelProto, GraphProto, NodeProto, TensorProto). Opset 1 and 7 to
// 27 of the domain ai.onnx.
#pragma once

#include <functional>

#include "engine/onnx/model.h"

namespace weft::onnx {

inline constexpr std::int64_t opset_max = 27;

struct ReadBounds {
  std::size_t nodes_max = 100'000;
  std::size_t tensors_max = 100'000;
  // The most elements of an attribute, and the most inputs or outputs of a node.
  std::size_t list_max = 1 << 20;
  std::size_t name_bytes_max = 4096;
};

// A function that returns `bytes` bytes of the file `location` (relative to the model), beginning
// at `offset`. If `bytes` is nullopt, it returns all bytes up to the end of the file.
using ExternalData = std::function<Result<ByteVector>(
    const std::string& location, std::uint64_t offset, std::optional<std::uint64_t> bytes)>;

// Fails with invalid_argument if the bytes are not a model, with unsupported if an opset or a type
// is not known, and with resource_exhausted if one of the bounds is exceeded. Without `external`, a
// tensor with external data is an error.
[[nodiscard]] Result<Model> read_model(ByteSpan bytes, const ExternalData& external = {},
                                       const ReadBounds& bounds = {});

// A serialised TensorProto: a tensor with its name.
struct NamedTensor {
  std::string name;
  Tensor tensor;
};
[[nodiscard]] Result<NamedTensor> read_tensor(ByteSpan bytes, const ExternalData& external = {},
                                              const ReadBounds& bounds = {});
// Serialises a tensor as a TensorProto with raw data, which read_tensor() reads.
[[nodiscard]] ByteVector write_tensor(const std::string& name, const Tensor& tensor);

}  // namespace weft::onnx
