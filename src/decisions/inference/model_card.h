// The JSON form of a model's card: `weft model add` sends it, and clients are shown it.
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/records/model.h"

namespace weft::inference {

using ModelCard = store::Model;

[[nodiscard]] std::string to_json(const ModelCard& card);
// Reads a card. An error is one exact sentence, and every number is within its bounds. `created`
// and `owner` may be missing.
[[nodiscard]] Result<ModelCard> read_model_card(std::string_view json);

}  // namespace weft::inference
