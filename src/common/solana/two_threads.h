// Splits work over many places between two threads: the calling one, and one that lives for the
// call. Data that both read must not change, and each writes only its own places. Small work, and
// all work in a browser, stays on the calling thread.
#pragma once

#include <cstddef>
#include <functional>

namespace weft::solana {

// The least number of places that is worth a thread: a thread starts in tens of microseconds, and a
// place takes tenths of one.
inline constexpr std::size_t places_for_two_threads = 4096;

// Calls work(begin, end) for the two halves of [0, count), which are split at count / 2, on two
// threads if the work is large. Returns when both are done.
void in_two_parts(std::size_t count, const std::function<void(std::size_t, std::size_t)>& work);

}  // namespace weft::solana
