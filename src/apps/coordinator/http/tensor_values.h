// Converts tensors between the forms that clients write (JSON or bytes, with the type names of the
// Open Inference Protocol or TensorFlow Serving) and the form of a job.
//
// Bytes are little-endian and row-major. Pure. Errors: invalid_argument with one sentence.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/bytes.h"
#include "common/json/json.h"
#include "common/manifest/manifest.h"
#include "decisions/inference/onnx_interface.h"

namespace weft::coordinator {

using inference::TensorShape;

struct TensorType {
  std::string_view name;  // Name in an OnnxInterface: "f32".
  // The name in the Open Inference Protocol: "FP32".
  std::string_view protocol;
  // The name in TensorFlow Serving: "DT_FLOAT".
  std::string_view serving;
  std::size_t bytes = 0;  // Bytes of an element in requests and answers.
  manifest::ElementType job = manifest::ElementType::f32;  // Type of the element in a job.
};
// The type with this name, which read_onnx_interface() must have accepted.
[[nodiscard]] const TensorType& tensor_type(std::string_view name);

[[nodiscard]] std::uint64_t element_count(const TensorShape& shape);

// Reads a flat list of all elements, or lists nested as the shape says. A tensor of shape [] is a
// plain number.
[[nodiscard]] Result<ByteVector> read_values(const json::Value& value, const TensorType& type,
                                             const TensorShape& shape);
// The shape of nested lists, found from the first element of each list.
[[nodiscard]] Result<TensorShape> shape_of_values(const json::Value& value);

enum class Nesting : std::uint8_t { flat, nested };
// Writes elements as JSON. NaN and infinity, which JSON cannot express, give an error that names
// `what`.
[[nodiscard]] Result<std::string> write_values(ByteSpan bytes, const TensorType& type,
                                               const TensorShape& shape, Nesting nesting,
                                               std::string_view what);

// Converts elements to a job's types and back. An i64 must fit into an i32; a bool becomes 0 or 1.
[[nodiscard]] Result<ByteVector> to_job(ByteVector bytes, const TensorType& type,
                                        std::string_view what);
[[nodiscard]] ByteVector from_job(ByteVector bytes, const TensorType& type);

}  // namespace weft::coordinator
