// Whose shader is checked: one check at a time waits for each client and each address, and one that
// is under way serves all who hand in the same shader.
//
// Threading: any; share() blocks.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "apps/coordinator/ingest/submission.h"
#include "common/base/ids.h"
#include "common/base/result.h"

namespace weft::cli {

class CheckTurns {
 public:
  // Checks that may wait for one client, and for one address; 0: any number.
  explicit CheckTurns(std::size_t per_asker) : per_asker_(per_asker) {}
  CheckTurns(const CheckTurns&) = delete;

  // What `check` says, which is called unless the same name is being checked already.
  // resource_exhausted if its client or address has others waiting.
  [[nodiscard]] Result<> share(const Hash& name, const coordinator::ShaderAsker& asker,
                               const std::function<Result<>()>& check);

  // How many wait for a check that another began.
  [[nodiscard]] std::size_t sharing() {
    const std::lock_guard lock(mutex_);
    return sharing_;
  }

 private:
  struct Check {
    bool done = false;
    Result<> result;
  };
  [[nodiscard]] bool enter(const std::string& who);
  void leave(const std::string& who);

  const std::size_t per_asker_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Hash, std::shared_ptr<Check>> checks_;
  std::map<std::string, std::size_t> waiting_;
  std::size_t sharing_ = 0;
};

}  // namespace weft::cli
