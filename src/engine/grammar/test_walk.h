// Makes random texts that follow a grammar.
#pragma once

#include <optional>
#include <random>
#include <string>

#include "engine/grammar/matcher.h"

namespace weft::grammar::test {

// Returns a text that the grammar accepts: the first `bytes_free` bytes are random, and the rest is
// the shortest way to an end. Returns nullopt if the matcher is full.
inline std::optional<std::string> random_text(Matcher& matcher, std::mt19937_64& random,
                                              std::size_t bytes_free) {
  std::string out;
  Matcher::State state = matcher.start();
  while (true) {
    if (state >= Matcher::full) return std::nullopt;
    const bool done = out.size() >= bytes_free || random() % 16 == 0;
    if (matcher.is_complete(state) || (matcher.accepts(state) && done)) return out;
    const ByteSet possible = matcher.possible(state);
    std::optional<std::uint8_t> chosen;
    if (out.size() >= bytes_free) {
      std::uint32_t least = ~0u;
      for (unsigned byte = 0; byte < 256; ++byte) {
        if (!possible.has(static_cast<std::uint8_t>(byte))) continue;
        const Matcher::State to = matcher.next(state, static_cast<std::uint8_t>(byte));
        if (to >= Matcher::full) continue;
        if (const std::uint32_t needed = matcher.least_bytes(to); needed < least) {
          least = needed;
          chosen = static_cast<std::uint8_t>(byte);
        }
      }
    } else {
      auto skip = static_cast<int>(random() % static_cast<unsigned>(possible.count()));
      for (unsigned byte = 0; byte < 256; ++byte) {
        if (!possible.has(static_cast<std::uint8_t>(byte)) || skip-- > 0) continue;
        chosen = static_cast<std::uint8_t>(byte);
        break;
      }
    }
    if (!chosen) return std::nullopt;
    out += static_cast<char>(*chosen);
    state = matcher.next(state, *chosen);
  }
}

}  // namespace weft::grammar::test
