// The JSON form of a model's card, which `weft model add` sends and clients read.
#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/records/model.h"

namespace weft::inference {

using ModelCard = store::Model;

[[nodiscard]] std::string to_json(const ModelCard& card);
// Reads a card and checks that every number is within its bounds. `created` and `owner` may be
// missing. An error is one sentence that says exactly what is wrong.
[[nodiscard]] Result<ModelCard> read_model_card(std::string_view json);

}  // namespace weft::inference
