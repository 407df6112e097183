// What the coordinator's verifier runs parts on: a sandboxed child of this program, as a worker's.
#pragma once

#include "apps/coordinator/ingest/verifier.h"

namespace weft::cli {

[[nodiscard]] std::unique_ptr<coordinator::PartRunner> make_part_runner();

}  // namespace weft::cli
