// Shares the time of one verifier between two lines: samples of newcomers and samples of workers
// with standing. Newcomers' samples are long (a whole result at first), and free wallets can bring
// any number of them. Therefore each line gets half of the time while both wait. A line that was
// empty has not saved up time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace weft::trust {

class VerifierTurns {
 public:
  enum Line : std::uint8_t { newcomers, others };

  // Returns the line whose sample goes next. The arguments are true for lines with a sample that
  // waits; if both are, the line that has used less time goes next.
  [[nodiscard]] Line next(bool newcomers_wait, bool others_wait) {
    if (!newcomers_wait) alone(others);
    if (!others_wait) alone(newcomers);
    if (newcomers_wait != others_wait) return newcomers_wait ? newcomers : others;
    return spent_[newcomers] < spent_[others] ? newcomers : others;
  }
  void spent(Line line, double seconds) { spent_[line] += seconds; }

 private:
  void alone(Line line) { spent_[1 - line] = std::max(spent_[1 - line], spent_[line]); }

  std::array<double, 2> spent_{};
};

}  // namespace weft::trust
