// A few threads that divide ranges of rows among them. Without threads (WebAssembly without them)
// the caller does all the work.
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

  // `threads` is the number of threads with the caller's; at least 1.
  explicit Workers(std::size_t threads);
  Workers(const Workers&) = delete;
  ~Workers();

  [[nodiscard]] std::size_t threads() const { return threads_.size() + 1; }
  // Calls `work` for consecutive parts of [0, count) on all threads, and returns when all are done.
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
