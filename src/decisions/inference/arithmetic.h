// What a served model's matrices are multiplied with.
#pragma once

#include <string>
#include <string_view>

#include "common/records/model.h"

namespace weft::inference {

// "f32", "int8" or "f16". `setting` is one of them, or "auto": int8 for a file whose weights have 8
// bits or fewer, whose rounding is of the size of theirs; f32 for wider weights, which int8 would
// make coarser and whose audits tell a smaller file in a worker's place sooner. The card says how
// wide weights are by the bytes of its embedding (Q8_0 has 8.5 bits a weight with its scales).
[[nodiscard]] std::string activations_of(const store::Model& card, std::string_view setting);

}  // namespace weft::inference
