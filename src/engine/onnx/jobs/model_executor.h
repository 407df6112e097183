// Runs onnx jobs on a GPU: it runs the job's model once for each item of a range. Each item runs by
// itself, so that a part of a range gives the same bytes as the whole range. Float results differ
// between devices within the tolerance that the manifest names.
//
// Threading: as the device; one run at a time. Errors: as exec::Executor, and those of the model
// reader and of ItemTensors. Nothing is compiled before the first item runs.
#pragma once

#include <memory>

#include "engine/exec/executor.h"

namespace weft::onnx {

// The device outlives the executor. The executor keeps the models of the last few jobs. The values
// of a model may take bounds.bytes_max bytes on the device.
[[nodiscard]] std::unique_ptr<exec::Executor> create_model_executor(gpu::Device& device,
                                                                    exec::Bounds bounds);

}  // namespace weft::onnx
