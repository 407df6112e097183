// The number types with which outputs of a job are compared.
#pragma once

#include <vector>

#include "common/manifest/manifest.h"
#include "common/proof/compare.h"

namespace weft::coordinator {

// One type for each output, in manifest order. A kernel's output is i32.
[[nodiscard]] std::vector<proof::NumberType> output_types(const manifest::Manifest& manifest);

}  // namespace weft::coordinator
