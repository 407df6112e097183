// The interface of an ONNX model: its inputs and outputs, and their shapes in a request. ONNX
// models are added like language models.
//
// The card of such a model has the architecture "onnx". Its `chunks` is the blob of this document,
// and the sizes of its layers have no meaning (each is 1, or 0 if that is allowed). Its file runs
// as jobs of the kind "onnx", so no worker serves it in advance.
//
// Pure. Errors: invalid_argument with one sentence.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "decisions/inference/model_card.h"

namespace weft::inference {

inline constexpr std::string_view onnx_architecture = "onnx";
[[nodiscard]] bool is_onnx(const ModelCard& card);
// The card of an ONNX model, without name, hashes and file length.
[[nodiscard]] ModelCard onnx_card();

// One size of a shape: a number of at least 1, or a symbol whose value each request sets.
struct TensorSize {
  std::uint64_t number = 0;  // The size; 0 if a symbol stands for it.
  std::string symbol{};
  friend bool operator==(const TensorSize&, const TensorSize&) = default;
};
struct TensorSpec {
  std::string name;
  std::string type;  // "f32", "bool" and so on; the names of the model reader.
  std::vector<TensorSize> shape{};
  friend bool operator==(const TensorSpec&, const TensorSpec&) = default;
};
struct OnnxInterface {
  std::vector<TensorSpec> inputs, outputs;
  friend bool operator==(const OnnxInterface&, const OnnxInterface&) = default;
};

// The most inputs and outputs of a job beside its model.
inline constexpr std::size_t onnx_tensors_max = 15;
inline constexpr std::size_t onnx_interface_bytes_max = std::size_t{64} << 10;

[[nodiscard]] std::string to_json(const OnnxInterface& interface);
// Reads the document. Every symbol of an output must occur in an input, and names must be unique.
[[nodiscard]] Result<OnnxInterface> read_onnx_interface(std::string_view json);

using TensorShape = std::vector<std::uint64_t>;
[[nodiscard]] std::string to_string(const TensorShape& shape);  // "[1,3,640,640]"
// Writes a shape with its numbers and symbols.
[[nodiscard]] std::string to_string(const TensorSpec& expected);

// The shapes of the inputs and outputs of one request.
struct BoundShapes {
  // If `items` is more than one, or `stacked` is set, the model runs once for each item: its own
  // shapes begin with 1, and the first dimension of the request's shapes is the number of items.
  std::uint32_t items = 1;
  bool stacked = false;
  std::vector<TensorShape> inputs, outputs;  // The shapes that the client sees.
};
// Binds the shapes of a request to the model's. `given` has a shape for each input, in the
// interface's order. The shapes must fit the model's sizes. If each input and output of the model
// begins with a size of 1, all shapes of the request may instead begin with one common number of
// items.
[[nodiscard]] Result<BoundShapes> bind(const OnnxInterface& interface,
                                       const std::vector<TensorShape>& given);

}  // namespace weft::inference
