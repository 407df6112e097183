#include "engine/llm/gpu/engine_setup.h"

#include <algorithm>

#include "engine/llm/gpu/gpu_engine.h"
#include "engine/llm/gpu/model_program.h"

namespace weft::llm {

namespace {

// The most bytes of a buffer that a kernel can bind.
std::uint64_t bytes_bound(const gpu::Device& device) {
  return std::min(device.limits().storage_binding_bytes_max, device.limits().buffer_bytes_max);
}

std::uint32_t table_pages(const EngineOptions& options) {
  return (options.context + kv_page_positions - 1) / kv_page_positions;
}

// The number of pages in the cache: as many as fit into the budget and into one buffer of a layer.
std::uint32_t pages_of(const gpu::Device& device, const Model& model, const EngineOptions& options,
                       const RowShape& shape) {
  const std::uint64_t all = std::uint64_t{options.sequences} * shape.table_pages;
  if (options.cache_bytes == 0) return static_cast<std::uint32_t>(all);
  RowShape one = shape;
  one.pages = 1;
  const std::uint64_t page = attention_spec(model.config, options, one).cache.bytes();
  std::uint64_t layers = 0;
  for (std::uint32_t i = options.layers.begin; i < options.layers.end; ++i)
    layers += std::holds_alternative<Attention>(model.layers[i].mixer) ? 1 : 0;
  const std::uint64_t budget = options.cache_bytes / std::max<std::uint64_t>(1, 2 * layers * page);
  // The least number of pages holds one sequence of full length.
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(std::min(budget, bytes_bound(device) / page),
                                std::min<std::uint64_t>(all, shape.table_pages), all));
}

std::uint32_t rows_max(const gpu::Device& device, const EngineOptions& options) {
  constexpr std::uint32_t rows_cpu = 64, rows_gpu = 512;
  return std::max(options.sequences,
                  device.adapter().kind == gpu::AdapterKind::cpu ? rows_cpu : rows_gpu);
}

}  // namespace

RowShape engine_shape(const gpu::Device& device, const Model& model, const EngineOptions& options) {
  const Config& config = model.config;
  RowShape shape =
      row_shape(config, options, rows_max(device, options), decode_tuning(device, config).splits);
  shape.table_pages = table_pages(options);
  shape.pages = pages_of(device, model, options, shape);
  shape.tile_rows =
      flash_tuning_of(device, attention_spec(config, options, shape), options).tile_rows;
  return shape;
}

std::uint32_t sequences_that_fit(const gpu::Device& device, const Model& model,
                                 const EngineOptions& options) {
  const std::uint64_t bound = bytes_bound(device);
  EngineOptions fitting = options;
  for (; fitting.sequences > 1; fitting.sequences /= 2) {
    RowShape shape = row_shape(model.config, fitting, 1, 1);
    shape.table_pages = table_pages(options);
    // A cache with a budget has as many pages as fit, so that one page is enough for this check.
    shape.pages = options.cache_bytes == 0 ? fitting.sequences * shape.table_pages : 1;
    if (attention_spec(model.config, fitting, shape).cache.bytes() <= bound &&
        std::uint64_t{shape.logits_rows} * shape.vocabulary * 4 <= bound)
      break;
  }
  return fitting.sequences;
}

}  // namespace weft::llm
