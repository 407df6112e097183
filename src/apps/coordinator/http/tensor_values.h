// Tensors as clients of inference routes write them: elements in JSON or as bytes, types by the
// names of the Open Inference Protocol and of TensorFlow Serving, and as a job has them.
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
  std::string_view name;                                   // "f32": in an OnnxInterface.
  std::string_view protocol;                               // "FP32"
  std::string_view serving;                                // "DT_FLOAT"
  std::size_t bytes = 0;                                   // An element's, here
  manifest::ElementType job = manifest::ElementType::f32;  // and in a job: integers of four bytes.
};
// `name` is one that read_onnx_interface() takes.
[[nodiscard]] const TensorType& tensor_type(std::string_view name);

[[nodiscard]] std::uint64_t element_count(const TensorShape& shape);

// A list of all elements, or lists in lists as the shape has them; a number alone for the shape [].
[[nodiscard]] Result<ByteVector> read_values(const json::Value& value, const TensorType& type,
                                             const TensorShape& shape);
// The shape of lists in lists, by the first of each.
[[nodiscard]] Result<TensorShape> shape_of_values(const json::Value& value);

enum class Nesting : std::uint8_t { flat, nested };
// As JSON. A value that JSON cannot say (NaN, infinity) is an error, which names `what`.
[[nodiscard]] Result<std::string> write_values(ByteSpan bytes, const TensorType& type,
                                               const TensorShape& shape, Nesting nesting,
                                               std::string_view what);

// The same elements as a job has them, and back. An i64 must be an i32; a truth value is 0 or 1.
[[nodiscard]] Result<ByteVector> to_job(ByteVector bytes, const TensorType& type,
                                        std::string_view what);
[[nodiscard]] ByteVector from_job(ByteVector bytes, const TensorType& type);

}  // namespace weft::coordinator
