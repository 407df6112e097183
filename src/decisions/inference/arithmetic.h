// The arithmetic in which a served model's matrices are multiplied.
#pragma once

#include <string>
#include <string_view>

#include "common/records/model.h"

namespace weft::inference {

// Returns the type of activations: "f32", "int8" or "f16". `setting` is one of them, or "auto".
// "auto" gives int8 for a file whose weights have 8 bits or fewer, because the rounding of the
// activations is then of the size of the weights' own. It gives f32 for wider weights: int8 would
// make them coarser, and with f32 audits sooner detect a smaller file in place of the model. The
// width of the weights follows from the card's bytes of the embedding (Q8_0 has 8.5 bits a weight
// with its scales).
[[nodiscard]] std::string activations_of(const store::Model& card, std::string_view setting);

}  // namespace weft::inference
