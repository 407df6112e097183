// How the numbers of a job's outputs are compared.
#pragma once

#include <vector>

#include "common/manifest/manifest.h"
#include "common/proof/compare.h"

namespace weft::coordinator {

// One for each output, in manifest order (a kernel's is i32).
[[nodiscard]] std::vector<proof::NumberType> output_types(const manifest::Manifest& manifest);

}  // namespace weft::coordinator
