// Runs onnx jobs on a GPU: the job's model, once for each item of a range, each item by itself, so
// that a part of a range gives the same bytes alone. Float results differ between devices within
// the tolerance that the manifest names.
//
// Threading: as the device; one run at a time. Errors: as exec::Executor, and what the reader of
// models and ItemTensors say of the model. Nothing is compiled before a first item runs.
#pragma once

#include <memory>

#include "engine/exec/executor.h"

namespace weft::onnx {

// The device outlives the executor. The models of the last few jobs are kept. Values of a model
// may take bounds.bytes_max on the device.
[[nodiscard]] std::unique_ptr<exec::Executor> create_model_executor(gpu::Device& device,
                                                                    exec::Bounds bounds);

}  // namespace weft::onnx
