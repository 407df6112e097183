// Numbers and base64 of a manifest to the bytes that a binding holds. Internal to this folder.
#pragma once

#include <cstdint>

#include "common/json/json.h"
#include "common/manifest/manifest.h"

namespace weft::manifest {

// What a data object must come to.
struct DataShape {
  ElementType type = ElementType::u32;
  std::uint64_t elements = 0;
};

// Reads the one of "value", "base64", "path" and "blob" that `object` has; monostate where it has
// none. Values and base64 must have exactly the elements of `shape`.
[[nodiscard]] Result<Data> parse_data(const json::Object& object, DataShape shape);

// The nearest half, ties to even, as its bits; nothing where it would be infinite.
[[nodiscard]] std::optional<std::uint16_t> half_bits(double value);

}  // namespace weft::manifest
