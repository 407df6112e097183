// Random words for checks, reproducible from a seed: SplitMix64 (G. Steele et al., Fast splittable
// pseudorandom number generators, 2014). Not for secrets. A check is sound only if no prover knows
// the seed before its commitment.
#pragma once

#include <cstdint>

namespace weft::proof {

class RandomWords {
 public:
  explicit RandomWords(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_;
};

}  // namespace weft::proof
