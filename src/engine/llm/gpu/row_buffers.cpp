#include "engine/llm/gpu/row_buffers.h"

#include <algorithm>

#include "common/base/check.h"
#include "engine/kernels/prefill/flash_attention.h"

namespace weft::llm {
namespace {

using gpu::BufferUsage;

gpu::Buffer storage(gpu::Device& device, std::uint64_t numbers, const char* label) {
  return device.create_buffer(
      {.size = std::max<std::uint64_t>(16, numbers * 4),
       .usage = BufferUsage::storage | BufferUsage::copy_source | BufferUsage::copy_destination,
       .label = label});
}

template <class T>
void write(gpu::Device& device, const gpu::Buffer& buffer, std::span<const T> values) {
  if (!values.empty()) device.write(buffer, 0, as_bytes(values));
}

}  // namespace

RowShape row_shape(const Config& config, const EngineOptions& options, std::uint32_t rows,
                   std::uint32_t splits) {
  const AttentionShape& attention = config.attention;
  RowShape shape{.rows = rows,
                 .embedding = config.embedding,
                 .projected = attention.q_rows() + 2 * attention.kv_rows(),
                 .convolved = 0,
                 .mixed = attention.heads * attention.head_dim,
                 .feed_forward = config.feed_forward,
                 .vocabulary = options.layers.end == config.layers ? config.vocabulary : 0,
                 .logits_rows = options.sequences};
  if (options.activations != Activations::f32) {
    // The kernels compute products of several rows at a time and write all of these rows, so that
    // buffers hold whole groups of rows.
    constexpr std::uint32_t rows_together = 32;
    shape.drawn_rows = (options.sequences + rows_together - 1) / rows_together * rows_together;
    shape.shares = std::uint64_t{attention.heads} * (splits + 1) * (attention.head_dim + 4);
  }
  if (config.delta_net) {
    const DeltaNetShape& delta = *config.delta_net;
    shape.convolved = delta.conv_rows();
    shape.projected =
        std::max(shape.projected, delta.conv_rows() + delta.value_rows() + 2 * delta.value_heads);
    shape.mixed = std::max(shape.mixed, delta.value_rows());
  }
  if (config.experts) {
    shape.experts = config.experts->count;
    shape.experts_used = config.experts->used;
  }
  shape.projected = (shape.projected + 3) / 4 * 4;
  return shape;
}

RowBuffers::RowBuffers(gpu::Device& device, const RowShape& shape_)
    : shape(shape_),
      tokens(storage(device, shape.rows, "tokens")),
      places(storage(device,
                     std::uint64_t{shape.rows} * 4 +
                         (std::uint64_t{shape.logits_rows} * shape.table_pages + 3) / 4 * 4,
                     "places")),
      segments(storage(device, std::uint64_t{shape.rows} * 4, "segments")),
      tiles(storage(device, std::uint64_t{shape.rows} * 2, "tiles")),
      batch(device.create_buffer({.size = sizeof(kernels::BatchSize),
                                  .usage = BufferUsage::uniform | BufferUsage::copy_destination,
                                  .label = "batch"})),
      partials(storage(
          device,
          std::min({std::uint64_t{shape.rows} * std::max(shape.embedding, shape.projected) * 8,
                    device.limits().storage_binding_bytes_max / 4, shape.partials_max / 4}),
          "partials")),
      hidden(storage(device, std::uint64_t{shape.rows} * shape.embedding, "hidden")),
      normed(storage(device, std::uint64_t{shape.rows} * shape.embedding, "normed")),
      projected(storage(device, std::uint64_t{shape.rows} * shape.projected, "projected")),
      convolved(storage(device, std::uint64_t{shape.rows} * shape.convolved, "convolved")),
      mixed(storage(device, std::uint64_t{shape.rows} * shape.mixed, "mixed")),
      core(storage(device, shape.convolved == 0 ? 0 : std::uint64_t{shape.rows} * shape.mixed,
                   "core")),
      gates(storage(device, std::uint64_t{shape.rows} * shape.feed_forward * 2, "gates")),
      gated(storage(device, std::uint64_t{shape.rows} * shape.feed_forward, "gated")),
      expert_scores(storage(device, std::uint64_t{shape.rows} * shape.experts, "expert scores")),
      expert_choice(
          storage(device, std::uint64_t{shape.rows} * shape.experts_used * 2, "expert choice")),
      normed_quants(
          storage(device, std::uint64_t{shape.drawn_rows} * shape.embedding / 4, "normed quants")),
      normed_scales(
          storage(device, std::uint64_t{shape.drawn_rows} * shape.embedding / 8, "normed scales")),
      normed_factors(storage(device, shape.drawn_rows, "normed factors")),
      mixed_quants(
          storage(device, std::uint64_t{shape.drawn_rows} * shape.mixed / 4, "mixed quants")),
      mixed_scales(
          storage(device, std::uint64_t{shape.drawn_rows} * shape.mixed / 8, "mixed scales")),
      gated_quants(storage(device, std::uint64_t{shape.drawn_rows} * shape.feed_forward / 4,
                           "gated quants")),
      gated_scales(storage(device, std::uint64_t{shape.drawn_rows} * shape.feed_forward / 8,
                           "gated scales")),
      shares(storage(device, shape.drawn_rows * shape.shares, "shares")),
      logits(storage(device, std::uint64_t{shape.logits_rows} * shape.vocabulary, "logits")),
      none(storage(device, 0, "none")) {}

void RowBuffers::write_rows(gpu::Device& device, std::span<const kernels::RowPlace> row_places,
                            std::span<const kernels::Segment> row_segments) const {
  check(row_places.size() <= shape.rows && row_segments.size() <= row_places.size(),
        "a pass has at most so many rows");
  const kernels::BatchSize size{.rows = static_cast<std::uint32_t>(row_places.size()),
                                .segments = static_cast<std::uint32_t>(row_segments.size())};
  write(device, batch, std::span(&size, 1));
  write(device, places, row_places);
  write(device, segments, row_segments);
  if (row_segments.size() != 1) return;  // Tiles are used only by passes of one segment.
  std::vector<kernels::AttentionTile> row_tiles;
  const auto rows = static_cast<std::uint32_t>(row_places.size());
  for (std::uint32_t first = 0; first < rows; first += shape.tile_rows)
    row_tiles.push_back({.first_row = first, .rows = std::min(shape.tile_rows, rows - first)});
  write(device, tiles, std::span<const kernels::AttentionTile>(row_tiles));
}

void RowBuffers::write_table(gpu::Device& device, std::uint32_t slot,
                             std::span<const std::uint32_t> slot_pages) const {
  check(slot_pages.size() <= shape.table_pages, "a sequence has at most the context's pages");
  if (slot_pages.empty()) return;
  device.write(places, std::uint64_t{shape.rows} * 16 + std::uint64_t{slot} * shape.table_pages * 4,
               as_bytes(slot_pages));
}

void RowBuffers::write_tokens(gpu::Device& device, std::span<const Token> row_tokens) const {
  write(device, tokens, row_tokens);
}

void RowBuffers::write_row(gpu::Device& device, std::uint32_t row, const kernels::RowPlace& place,
                           Token token) const {
  check(row < shape.rows, "a pass has at most so many rows");
  device.write(places, row * sizeof(place),
               as_bytes(std::span<const kernels::RowPlace>(&place, 1)));
  device.write(tokens, row * sizeof(token), as_bytes(std::span<const Token>(&token, 1)));
}

}  // namespace weft::llm
