// The number types with which outputs of a job are compared.
#pragma once

#include <vector>

#include "common/manifest/manifest.h"
#include "common/proof/compare.h"

namespace weft::coordinator {

// Returns the number type of each output, in manifest order. The output of a kernel job is i32.
[[nodiscard]] std::vector<proof::NumberType> output_types(const manifest::Manifest& manifest);

}  // namespace weft::coordinator
