// The types of ids in the serving of models.
#pragma once

#include <cstdint>

#include "common/base/number_id.h"

namespace weft::inference {

using ServingId = std::uint64_t;  // Id of a worker's connection to /v1/serve.
using RequestId = std::uint32_t;
using ChainId = NumberId<struct ChainTag, std::uint32_t>;
using ShardId = NumberId<struct ShardTag, std::uint32_t>;

}  // namespace weft::inference
