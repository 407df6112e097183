// Measures the tunings of kernels for prefill and prints the fastest first.
#pragma once

#include "apps/bench/prefill/bench_device.h"

namespace weft::kernels {

void sweep_matmul(BenchDevice& bench);
void sweep_attention(BenchDevice& bench);
void sweep_delta(BenchDevice& bench);

}  // namespace weft::kernels
