#include "engine/llm/cpu/workers.h"

namespace weft::llm {

Workers::Workers(std::size_t threads) {
#if !defined(__EMSCRIPTEN__) || defined(__EMSCRIPTEN_PTHREADS__)
  for (std::size_t i = 1; i < threads; ++i) threads_.emplace_back([this, i] { loop(i); });
#else
  (void)threads;
#endif
}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  start_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::share(std::size_t count, const Work& work) {
  if (threads_.empty()) return work(0, count);
  {
    const std::lock_guard lock(mutex_);
    ++round_;
    running_ = threads_.size();
    count_ = count;
    work_ = &work;
  }
  start_.notify_all();
  work(0, count / threads());
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return running_ == 0; });
}

void Workers::loop(std::size_t index) {
  std::size_t seen = 0;
  while (true) {
    const Work* work = nullptr;
    std::size_t count = 0;
    {
      std::unique_lock lock(mutex_);
      start_.wait(lock, [&] { return stopping_ || round_ != seen; });
      if (stopping_) return;
      seen = round_;
      work = work_;
      count = count_;
    }
    (*work)(count* index / threads(), count * (index + 1) / threads());
    const std::lock_guard lock(mutex_);
    if (--running_ == 0) done_.notify_one();
  }
}

}  // namespace weft::llm
