// The source of random numbers of a history: all of them follow from one seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

namespace weft::sessions {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  // A number below `bound`; 0 for a bound of 0.
  [[nodiscard]] std::size_t below(std::size_t bound) {
    return bound == 0 ? 0 : static_cast<std::size_t>(engine_() % bound);
  }
  [[nodiscard]] bool chance(std::size_t percent) { return below(100) < percent; }
  [[nodiscard]] std::uint64_t any() { return engine_(); }
  template <class List>
  [[nodiscard]] auto& pick(List& list) {
    return list[below(std::size(list))];
  }
  [[nodiscard]] std::string bytes(std::size_t count) {
    std::string out(count, '\0');
    for (char& byte : out) byte = static_cast<char>(engine_());
    return out;
  }
  // Numbers that code often handles wrongly, and plain ones.
  [[nodiscard]] std::int64_t number() {
    static constexpr std::int64_t odd[] = {0,
                                           1,
                                           -1,
                                           2,
                                           255,
                                           65'536,
                                           1'000'000,
                                           2'147'483'647,
                                           -2'147'483'648,
                                           4'294'967'295,
                                           4'294'967'296,
                                           9'007'199'254'740'993,
                                           9'223'372'036'854'775'807};
    return chance(70) ? static_cast<std::int64_t>(below(200)) : odd[below(std::size(odd))];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace weft::sessions
