// The expected value of one cheat at each reputation, by the formulas (stake.h) and measured. For
// the measurement, a worker of this reputation hands in one wrong answer many times, in a network
// in which the assumed share of all other workers are its accomplices.
#pragma once

#include <cstdint>
#include <vector>

#include "decisions/trust/referee.h"

namespace weft::trust::simulation {

struct LevelOptions {
  std::uint64_t seed = 1;
  std::vector<double> reputations{0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999};
  std::uint32_t trials = 20'000;
  std::uint32_t others = 100;
  std::uint32_t parts_wrong = 32;  // The number of wrong parts out of 32.
};

struct Level {
  double reputation = 0;
  bool alone = false;  // The worker is established: believed alone.
  CheckRates rates;
  double detection = 0;  // The detection probability of the formula.
  double stake = 0;      // The stake, in values of a task.
  double expected = 0;   // The mean gain by the formula, in values of a task.
  double measured_detection = 0;
  double measured = 0;  // Mean gain of a cheat, in values of a task.
  double error = 0;     // The standard error of `measured`.
};

[[nodiscard]] std::vector<Level> measure_levels(const LevelOptions& options);

}  // namespace weft::trust::simulation
