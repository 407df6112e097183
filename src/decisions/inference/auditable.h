// Whether answers of a model can be audited at all.
#pragma once

#include "decisions/inference/desk_tables.h"

namespace weft::inference {

// True if every chain of trusted workers can be audited: by another chain that shares no member
// with it, or by a trusted worker outside of it that holds the whole model or has room for it. If
// no chain has formed yet, a chain of `shards_min` workers is assumed.
[[nodiscard]] bool is_auditable(const DeskTables& tables, const ModelCard& card);

}  // namespace weft::inference
