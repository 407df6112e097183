// Measures the time until honest workers without an invitation are established: a row of `weft
// bench coordinator`. It uses real processes: `weft serve` with its verifier, ten times `weft
// work`, and ten clients with credits that each submit the Mandelbrot example repeatedly.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "common/base/result.h"

namespace weft::cli {

struct EstablishedOptions {
  std::filesystem::path folder;
  std::uint32_t workers = 10;
  std::uint32_t clients = 10;
  double seconds_max = 300;
};
struct EstablishedTimes {
  double first = 0;  // Seconds until the first worker is established.
  double all = 0;    // Seconds until all workers are established.
  std::uint32_t established = 0;
  std::uint32_t jobs = 0;  // Jobs done by the end of the run.
  double least = 0;        // Lowest reputation of a worker at the end.
};
// Prints its progress to standard error. If the time ends before all workers are established, the
// times so far are returned. Fails with deadline_exceeded if the workers do not join in time.
[[nodiscard]] Result<EstablishedTimes> measure_established(const EstablishedOptions& options);

}  // namespace weft::cli
