// How long honest workers that no operator invited need to be established: a row of `weft bench
// coordinator`. Real processes: `weft serve` with its verifier, `weft work` ten times, and ten
// clients with credits that each submit the Mandelbrot example again and again.
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
  double first = 0;  // Seconds from the first submission until one is established,
  double all = 0;    // and all are.
  std::uint32_t established = 0;
  std::uint32_t jobs = 0;  // Done by then.
  double least = 0;        // The lowest reputation at the end.
};
// Says on standard error how far it is. deadline_exceeded only where the network does not start.
[[nodiscard]] Result<EstablishedTimes> measure_established(const EstablishedOptions& options);

}  // namespace weft::cli
