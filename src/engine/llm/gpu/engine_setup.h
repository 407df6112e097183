// The constant data that all parts of an engine on a GPU share: the device, the model's sizes, the
// options, and the buffers between the layers.
#pragma once

#include "engine/gpu/device.h"
#include "engine/llm/engine.h"
#include "engine/llm/gpu/row_buffers.h"

namespace weft::llm {

// The number of rows in a pass and of pages in the cache, for the memory of the device and the
// options.
[[nodiscard]] RowShape engine_shape(const gpu::Device& device, const Model& model,
                                    const EngineOptions& options);

struct EngineSetup {
  EngineSetup(gpu::Device& device_, const Model& model, const EngineOptions& options_)
      : device(device_),
        config(model.config),
        options(options_),
        buffers(device, engine_shape(device, model, options)) {}

  gpu::Device& device;
  const Config config;
  const EngineOptions options;  // The options with the defaults filled in.
  const RowBuffers buffers;

  [[nodiscard]] std::uint64_t hidden_bytes() const { return std::uint64_t{config.embedding} * 4; }
};

}  // namespace weft::llm
