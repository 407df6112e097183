// Work over many places on two threads: the calling one, and one that lives for the call. What both
// read must not change, and each writes its own places only. Small work, and all work in a browser,
// stays on the calling thread.
#pragma once

#include <cstddef>
#include <functional>

namespace weft::solana {

// So many places are worth a thread: it starts in tens of microseconds, and a place takes tenths of
// one.
inline constexpr std::size_t places_for_two_threads = 4096;

// work(begin, end) for two parts that together are [0, count): [0, count / 2) is one of them where
// there are two. Returns when both are done.
void in_two_parts(std::size_t count, const std::function<void(std::size_t, std::size_t)>& work);

}  // namespace weft::solana
