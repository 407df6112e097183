// Bounds the shader checks that wait: one for each client and each address. Requests for a shader
// that is being checked already share its result.
//
// Threading: any thread; share() blocks.
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
  // `per_asker` is the maximum number of waiting checks for each client and each address; 0 means
  // no bound.
  explicit CheckTurns(std::size_t per_asker) : per_asker_(per_asker) {}
  CheckTurns(const CheckTurns&) = delete;

  // Returns the result of `check`, which is not called if a check with this name is running: its
  // result is then shared. Fails with resource_exhausted if the client or address has too many
  // waiting checks.
  [[nodiscard]] Result<> share(const Hash& name, const coordinator::ShaderAsker& asker,
                               const std::function<Result<>()>& check);

  // The number of callers that wait for a check that another caller began.
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
