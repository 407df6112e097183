// A few threads that share out ranges of rows. Where threads are missing (WebAssembly without them)
// the caller does it all.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace weft::llm {

class Workers {
 public:
  using Work = std::function<void(std::size_t begin, std::size_t end)>;

  // `threads` in all, the caller's included; at least 1.
  explicit Workers(std::size_t threads);
  Workers(const Workers&) = delete;
  ~Workers();

  [[nodiscard]] std::size_t threads() const { return threads_.size() + 1; }
  // Calls work on consecutive parts of [0, count), from all threads, and returns when all are done.
  void share(std::size_t count, const Work& work);

 private:
  void loop(std::size_t index);

  std::mutex mutex_;
  std::condition_variable start_, done_;
  std::size_t round_ = 0, running_ = 0, count_ = 0;
  const Work* work_ = nullptr;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace weft::llm
