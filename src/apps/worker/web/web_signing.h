// The signing memory of a browser: IndexedDB (signing_web.js), shared by the tabs of an origin, as
// their key is.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "worker/tasks/signed_roots.h"
#include "worker/tasks/signing_memory.h"

namespace weft::worker::web {

class WebSigning final : public SigningMemory {
 public:
  static constexpr std::uint32_t entries_usual = 16384;
  explicit WebSigning(std::uint32_t entries_max = entries_usual) : entries_max_(entries_max) {}

  void admit(const PublicKey& coordinator, const TaskKey& key, const Hash& root,
             std::function<void(Result<>)> done) override;
  // True if the task is older than the record. Call admit() for a root of this coordinator before.
  [[nodiscard]] bool forgotten(const PublicKey& coordinator, const TaskKey& key) const override;

 private:
  using AllMarks = std::map<PublicKey, SignedRoots::Marks>;  // Marks by coordinator.
  const std::uint32_t entries_max_;  // Maximum number of roots for each coordinator.
  // The latest marks from IndexedDB. Answers may arrive after the end of this object.
  const std::shared_ptr<AllMarks> marks_ = std::make_shared<AllMarks>();
};

}  // namespace weft::worker::web
