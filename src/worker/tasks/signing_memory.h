// Where a worker keeps what its device has signed, so that it knows it after a restart: a file
// natively (apps/worker/native/signing_file.h), IndexedDB in a tab. Each keeps the rules of
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
  // Whether the root may be signed for this attempt of the coordinator's task. Where it may, that
  // is written down durably before `done` is told so. `done` comes on the session's thread, never
  // inside this call. already_exists: another root was signed, or what was signed is forgotten.
  virtual void admit(const PublicKey& coordinator, const TaskKey& key, const Hash& root,
                     std::function<void(Result<>)> done) = 0;
  // Whether admit() would surely refuse, as far as is known at once: asked before a task is
  // computed. False says nothing.
  [[nodiscard]] virtual bool forgotten(const PublicKey& coordinator, const TaskKey& key) const {
    (void)coordinator, (void)key;
    return false;
  }
};

}  // namespace weft::worker
