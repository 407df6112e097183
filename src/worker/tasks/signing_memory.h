// The durable record of the roots that a worker's device has signed: a file natively
// (apps/worker/native/signing_file.h), IndexedDB in a tab. Each record keeps the rules of
// signed_roots.h for each coordinator.
#pragma once

#include <functional>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "worker/tasks/events.h"

namespace weft::worker {

class SigningMemory {
 public:
  virtual ~SigningMemory() = default;
  // Asks whether the root may be signed for this attempt of the coordinator's task. If it may, the
  // root is durably written down before `done` is called. `done` is called on the session's thread,
  // never inside this call. Fails with already_exists if a different root was signed, or if the
  // signed root is forgotten.
  virtual void admit(const PublicKey& coordinator, const TaskKey& key, const Hash& root,
                     std::function<void(Result<>)> done) = 0;
  // True if admit() would certainly refuse the task, as far as is known at once. Called before a
  // task is computed. If it returns false, admit() may still refuse.
  [[nodiscard]] virtual bool forgotten(const PublicKey& coordinator, const TaskKey& key) const {
    (void)coordinator, (void)key;
    return false;
  }
};

}  // namespace weft::worker
