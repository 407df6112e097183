// Runs the kernel matmul_i8 on a device or on the CPU. Internal to this folder.
#pragma once

#include <memory>

#include "engine/exec/executor.h"
#include "engine/kernels/matmul_i8.h"

namespace weft::exec {

// The caller has checked the range (with range_fits() for a device, with check_job() for the CPU).
// `matmul` must outlive the run.
[[nodiscard]] Async<Result<Output>> run_matmul(gpu::Device& device, const kernels::MatmulI8& matmul,
                                               std::shared_ptr<const Job> job, RunOptions options);
[[nodiscard]] Output run_matmul_on_cpu(const Job& job, const RunOptions& options);

}  // namespace weft::exec
