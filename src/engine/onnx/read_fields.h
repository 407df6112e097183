// Helpers that the readers of protobuf messages share. Private to the folder.
#pragma once

#include <protozero/exception.hpp>

namespace weft::onnx {
// The exception for a field whose wire type is not the one that the format gives the field.
// protozero asserts the wire type; here the assertion throws this exception, like protozero's other
// exceptions, because a wrong file is not a bug of the program.
struct WrongWireType : protozero::exception {
  [[nodiscard]] const char* what() const noexcept override { return "a field of another kind"; }
};
}  // namespace weft::onnx
#undef protozero_assert
#define protozero_assert(holds) ((holds) ? void() : throw ::weft::onnx::WrongWireType())
#include <protozero/pbf_reader.hpp>

#include "engine/onnx/read_model.h"

namespace weft::onnx {

[[nodiscard]] inline protozero::data_view text_of(ByteSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Calls `read` and turns the exceptions that protozero throws at malformed input into an error.
template <class T, class Read>
[[nodiscard]] Result<T> without_exceptions(std::string_view what, Read&& read) {
  try {
    return read();
  } catch (const protozero::exception& error) {
    return fail(ErrorCode::invalid_argument,
                "The bytes are not {} in ONNX's format: the protobuf is malformed ({}).", what,
                error.what());
  }
}

[[nodiscard]] inline Result<std::string> read_name(protozero::pbf_reader& reader,
                                                   const ReadBounds& bounds) {
  const protozero::data_view view = reader.get_view();
  if (view.size() > bounds.name_bytes_max)
    return fail(ErrorCode::resource_exhausted, "A name has {} bytes; at most {} are allowed.",
                view.size(), bounds.name_bytes_max);
  return std::string(view.data(), view.size());
}

[[nodiscard]] Result<NamedTensor> read_tensor_message(protozero::pbf_reader reader,
                                                      const ExternalData& external,
                                                      const ReadBounds& bounds);

}  // namespace weft::onnx
