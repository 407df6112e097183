#include "common/solana/two_threads.h"

#ifndef __EMSCRIPTEN__
#include <system_error>
#include <thread>
#endif

namespace weft::solana {

void in_two_parts(std::size_t count, const std::function<void(std::size_t, std::size_t)>& work) {
  const std::size_t middle = count / 2;
#ifndef __EMSCRIPTEN__
  if (count >= places_for_two_threads) {
    std::thread second;
    try {
      second = std::thread([&] { work(middle, count); });
      // No thread could be started: this thread does both parts.
    } catch (const std::system_error&) {
    }
    work(0, middle);
    if (second.joinable()) {
      second.join();
    } else {
      work(middle, count);
    }
    return;
  }
#endif
  work(0, middle);
  work(middle, count);
}

}  // namespace weft::solana
