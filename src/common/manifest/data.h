// Converts a manifest's numbers and base64 to the bytes of a binding. Internal to this folder.
#pragma once

#include <cstdint>

#include "common/json/json.h"
#include "common/manifest/manifest.h"

namespace weft::manifest {

// The type and size that a data object must have.
struct DataShape {
  ElementType type = ElementType::u32;
  std::uint64_t elements = 0;
};

// Reads the one of "value", "base64", "path" and "blob" that `object` has; monostate if it has
// none. Values and base64 must have exactly the elements of `shape`.
[[nodiscard]] Result<Data> parse_data(const json::Object& object, DataShape shape);

// The bits of the nearest half-precision number, ties to even; no value if it would be infinite.
[[nodiscard]] std::optional<std::uint16_t> half_bits(double value);

}  // namespace weft::manifest
