// A store in memory with the same rules as the store on disk, for tests and for `weft serve --store
// memory:`.
#pragma once

#include <memory>

#include "platform/store/store.h"

namespace weft::store::memory {

[[nodiscard]] std::unique_ptr<Store> create();

}  // namespace weft::store::memory
