// A model's card as JSON: what `weft model add` sends and clients are shown.
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/records/model.h"

namespace weft::inference {

using ModelCard = store::Model;

[[nodiscard]] std::string to_json(const ModelCard& card);
// One exact sentence; every number is within its bounds. `created` and `owner` may be missing.
[[nodiscard]] Result<ModelCard> read_model_card(std::string_view json);

}  // namespace weft::inference
