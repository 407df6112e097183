// Measures a pass through all layers of a model, and each kind of kernel alone.
#pragma once

#include "apps/bench/prefill/bench_device.h"

namespace weft::kernels {

// Prints the times of the three models of models.h.
void measure_chains(BenchDevice& bench);

}  // namespace weft::kernels
