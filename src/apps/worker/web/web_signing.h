// The signing memory of a browser: IndexedDB (signing_web.js), shared by the tabs of an origin as
// their key is.
#pragma once

#include <cstdint>

#include "worker/tasks/signing_memory.h"

namespace weft::worker::web {

class WebSigning final : public SigningMemory {
 public:
  static constexpr std::uint32_t entries_usual = 16384;
  explicit WebSigning(std::uint32_t entries_max = entries_usual) : entries_max_(entries_max) {}

  void admit(const PublicKey& coordinator, const TaskKey& key, const Hash& root,
             std::function<void(Result<>)> done) override;

 private:
  const std::uint32_t entries_max_;  // For each coordinator.
};

}  // namespace weft::worker::web
