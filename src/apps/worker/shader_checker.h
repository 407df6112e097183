// Compiles the shaders of submitted jobs in a sandboxed child, for a coordinator that has no engine: the wiring passes
// check() in as a function.
//
// Threading: check() may be called from anywhere and blocks; calls wait for one another. The child is started at the first
// call and ended after a minute without one.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "apps/worker/sandbox.h"

namespace weft::worker {

class ShaderChecker {
 public:
  explicit ShaderChecker(Sandbox::Options options);
  ShaderChecker(const ShaderChecker&) = delete;
  ~ShaderChecker();

  // Fine for kernels. invalid_argument with "LINE:COLUMN: ..." where the shader does not compile or does not fit its
  // manifest; deadline_exceeded or internal where compiling it takes for ever or breaks the compiler; unavailable where this
  // machine has no GPU to compile for, and resource_exhausted where too many wait: both say nothing about the shader.
  [[nodiscard]] Result<> check(const manifest::Manifest& manifest, std::string shader);

 private:
  struct Request {
    exec::Job job;
    std::function<void(Result<>)> done;
  };
  void work();
  Result<> check_one(std::unique_ptr<Sandbox>& sandbox, const exec::Job& job);

  static constexpr std::size_t waiting_max = 64;
  const Sandbox::Options options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Request> requests_;
  bool stopping_ = false;
  std::jthread thread_;  // Last: starts when everything above is there.
};

}  // namespace weft::worker
