#include "apps/bench/prefill/sweeps.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "apps/bench/prefill/models.h"
#include "common/base/format.h"
#include "engine/kernels/prefill/delta_chunk.h"
#include "engine/kernels/prefill/flash_attention.h"
#include "engine/kernels/prefill/matmul.h"

namespace weft::kernels {

using gpu::Buffer;
using gpu::Pipeline;

void sweep_matmul(BenchDevice& bench) {
  const std::uint32_t rows = bench.options().rows;
  struct Shape {
    std::uint32_t n, k;
    MatmulOutput output;
  };
  constexpr Shape shapes[] = {
      {16384, 2048, MatmulOutput::swiglu}, {2048, 8192, MatmulOutput::accumulate},
      {3072, 2048, MatmulOutput::store},   {2048, 2048, MatmulOutput::accumulate},
      {9728, 896, MatmulOutput::swiglu},   {896, 4864, MatmulOutput::accumulate},
      {1152, 896, MatmulOutput::store},    {896, 896, MatmulOutput::accumulate},
      {11264, 2048, MatmulOutput::swiglu}, {2048, 5632, MatmulOutput::accumulate},
      {2560, 2048, MatmulOutput::store}};
  struct Tile {
    std::uint32_t rows, columns, depth, subgroup_rows, subgroup_columns;
  };
  constexpr Tile tiles[] = {{128, 128, 32, 64, 64}, {128, 128, 32, 32, 64}, {128, 128, 64, 32, 64},
                            {128, 128, 64, 64, 64}, {128, 256, 32, 64, 64}, {256, 128, 32, 64, 64},
                            {64, 128, 32, 32, 32},  {64, 128, 32, 32, 64},  {64, 128, 32, 64, 32},
                            {64, 128, 64, 32, 64},  {128, 64, 32, 32, 32},  {128, 64, 32, 64, 32},
                            {64, 64, 32, 32, 32},   {64, 64, 64, 32, 32},   {64, 64, 64, 32, 16},
                            {64, 64, 128, 32, 32},  {64, 32, 64, 32, 16},   {32, 64, 64, 32, 32},
                            {32, 128, 64, 32, 32},  {32, 64, 64, 32, 16},   {32, 64, 64, 16, 32},
                            {16, 64, 64, 16, 16},   {16, 64, 64, 16, 32},   {16, 128, 64, 16, 32},
                            {16, 32, 64, 16, 16}};
  for (const Shape& shape : std::span(shapes).first(
           std::min<std::size_t>(bench.options().shapes_max, std::size(shapes)))) {
    const MatmulSpec spec{.format = WeightFormat::q8,
                          .weight_rows = shape.n,
                          .columns = shape.k,
                          .x_pitch = shape.k,
                          .y_pitch = shape.output == MatmulOutput::swiglu ? shape.n / 2 : shape.n,
                          .output = shape.output};
    const WeightLayout layout{spec.format, shape.k};
    const Buffer quants = bench.noise(std::uint64_t{layout.quant_row_bytes()} * shape.n),
                 scale = bench.scales(std::uint64_t{layout.scale_row_bytes()} * shape.n),
                 x = bench.floats(std::uint64_t{rows} * shape.k),
                 y = bench.floats(std::uint64_t{rows} * spec.y_pitch),
                 partial = bench.buffer(std::uint64_t{8} * rows * shape.n * 4);
    const Buffer x_in_halves =
        bench.upload(std::vector<std::uint32_t>(std::size_t{rows} * shape.k / 2, 0x3a00bc12));
    std::vector<std::pair<MatmulSpec, MatmulTuning>> tunings;
    std::vector<gpu::PipelineOptions> options;
    const MatmulTuning base = matmul_tuning(bench.device(), spec, {.rows = rows});
    if (base.matrix_m == 0) return;
    for (const Tile& tile : tiles) {
      for (const std::uint32_t splits : {1u, 2u, 3u, 4u, 6u, 8u}) {
        for (const bool x_halves : {false, true}) {
          if (bench.options().halves && !x_halves) continue;
          MatmulTuning one = base;
          one.tile_rows = tile.rows;
          one.tile_columns = tile.columns;
          one.tile_depth = tile.depth;
          one.subgroup_rows = tile.subgroup_rows;
          one.subgroup_columns = tile.subgroup_columns;
          one.splits = splits;
          if (tile.rows >= 2 * std::max(16u, rows) || (rows >= 256 && tile.rows < 64)) continue;
          const std::uint32_t workgroups =
              (rows + tile.rows - 1) / tile.rows * ((shape.n + tile.columns - 1) / tile.columns);
          const std::uint32_t depths = shape.k / tile.depth;
          if (one.workgroup_bytes() > bench.device().limits().workgroup_storage_bytes_max ||
              one.threads() > 1024)
            continue;
          if (splits > 1 && (spec.output == MatmulOutput::swiglu || workgroups * splits > 1100 ||
                             (depths + splits - 1) / splits * (splits - 1) >= depths))
            continue;
          if (spec.output == MatmulOutput::swiglu && tile.subgroup_columns < 2 * base.matrix_n)
            continue;
          if (workgroups * splits < 56 || workgroups > 2000 || (x_halves && splits > 4)) continue;
          MatmulSpec wanted = spec;
          wanted.x_halves = x_halves;
          tunings.push_back({wanted, one});
          options.push_back(matmul_pipeline(wanted, one));
        }
      }
    }
    const std::size_t products = options.size();
    for (std::uint32_t splits = 2; splits <= 8; ++splits) {
      MatmulTuning one = base;
      one.splits = splits;
      options.push_back(matmul_sum_pipeline(spec, one));
    }
    const auto pipelines = bench.compile(options);
    std::vector<std::vector<BenchDevice::Step>> steps;
    for (std::size_t i = 0; i < products; ++i) {
      if (!pipelines[i]) continue;
      const auto& [wanted, one] = tunings[i];
      BenchDevice::Step step{
          weft::format("{}x{}x{} subgroup {}x{} splits {}{}", one.tile_rows, one.tile_columns,
                       one.tile_depth, one.subgroup_rows, one.subgroup_columns, one.splits,
                       wanted.x_halves ? " x f16" : ""),
          pipelines[i].get(),
          {},
          matmul_workgroups(spec, one, rows)};
      step.groups.push_back(
          bench.device().create_bind_group(*pipelines[i], 0, {{0, quants}, {1, scale}}));
      step.groups.push_back(
          bench.device().create_bind_group(*pipelines[i], 1,
                                           {{0, wanted.x_halves ? x_in_halves : x},
                                            {1, one.splits > 1 ? partial : y},
                                            {2, x},
                                            {3, bench.size()}}));
      steps.emplace_back();
      steps.back().push_back(std::move(step));
      if (one.splits == 1) continue;
      const Pipeline& sum = *pipelines[products + one.splits - 2];
      BenchDevice::Step add{"", &sum, {}, matmul_sum_workgroups(spec, rows)};
      add.groups.push_back(bench.device().create_bind_group(
          sum, 0, {{0, partial}, {1, y}, {2, x}, {3, bench.size()}}));
      steps.back().push_back(std::move(add));
    }
    bench.report(
        weft::format("{} x {} {} ({} tunings)", shape.n, shape.k,
                     spec.output == MatmulOutput::swiglu ? "swiglu" : "plain", steps.size()),
        steps, 2.0 * rows * shape.n * shape.k, 7);
  }
}

void sweep_attention(BenchDevice& bench) {
  const std::uint32_t rows = bench.options().rows;
  for (const BenchModel& model : bench_models) {
    for (const std::uint32_t start : {0u, 3584u}) {
      const std::uint32_t q_stride = model.head_dim;
      const AttentionSpec spec{.cache = {.format = KvCacheFormat::f16,
                                         .slots = 1,
                                         .kv_heads = model.kv_heads,
                                         .context = 4096,
                                         .head_dim = model.head_dim},
                               .heads = model.heads,
                               .q_stride = q_stride,
                               .pitch = model.qkv()};
      std::vector<RowPlace> places;
      for (std::uint32_t i = 0; i < rows; ++i)
        places.push_back({.slot = 0, .position = start + i, .run = i});
      const Segment segment{.slot = 0, .first_row = 0, .rows = rows};
      std::vector<std::uint32_t> ones(spec.cache.bytes() / 4);
      std::mt19937 random(3);
      for (auto& word : ones)
        word = (static_cast<std::uint32_t>(random()) & 0x83ff83ff) | 0x38003800;
      const Buffer q = bench.floats(std::uint64_t{rows} * model.qkv()),
                   place = bench.upload(places), keys = bench.upload(ones),
                   values = bench.upload(ones),
                   out = bench.buffer(std::uint64_t{rows} * model.heads * model.head_dim * 4);
      std::vector<FlashTuning> tunings = {flash_tuning(bench.device(), spec, true)};
      const FlashTuning base = flash_tuning(bench.device(), spec);
      for (const std::uint32_t subgroups : {1u, 2u, 4u, 8u}) {
        for (const std::uint32_t positions : {16u, 32u, 64u, 128u}) {
          FlashTuning one = base;
          one.tile_rows = subgroups * base.matrix_m;
          one.tile_positions = positions;
          if (base.matrix_m != 0 && positions >= 2 * base.matrix_m &&
              one.workgroup_bytes(spec) <= bench.device().limits().workgroup_storage_bytes_max)
            tunings.push_back(one);
        }
      }
      std::vector<gpu::PipelineOptions> options;
      for (const FlashTuning& one : tunings) options.push_back(flash_attention_pipeline(spec, one));
      const auto pipelines = bench.compile(options);
      std::vector<std::vector<BenchDevice::Step>> steps;
      std::vector<Buffer> tile_buffers;
      for (std::size_t i = 0; i < tunings.size(); ++i) {
        if (!pipelines[i]) continue;
        const auto tiles = attention_tiles({&segment, 1}, tunings[i]);
        tile_buffers.push_back(bench.upload(tiles));
        BenchDevice::Step step{
            weft::format("{} rows, {} positions, matrix {}", tunings[i].tile_rows,
                         tunings[i].tile_positions, tunings[i].matrix_m),
            pipelines[i].get(),
            {},
            flash_attention_workgroups(spec, static_cast<std::uint32_t>(tiles.size()))};
        step.groups.push_back(bench.device().create_bind_group(
            *pipelines[i], 0,
            {{0, q}, {1, place}, {2, keys}, {3, values}, {4, out}, {5, tile_buffers.back()}}));
        steps.emplace_back().push_back(std::move(step));
      }
      bench.report(weft::format("attention of {} from {}", model.name, start), steps,
                   4.0 * rows * (start + rows / 2.0) * model.heads * model.head_dim, 5);
    }
  }
}

void sweep_delta(BenchDevice& bench) {
  const std::uint32_t rows = bench.options().rows;
  constexpr std::uint32_t heads = 16, dim = 128, pitch = 64;
  const DeltaStepSpec spec{.key_heads = heads,
                           .value_heads = heads,
                           .key_dim = dim,
                           .value_dim = dim,
                           .pitch = pitch,
                           .alpha_offset = 0,
                           .beta_offset = 16,
                           .epsilon = 1e-6f};
  const Segment segment{.slot = 0, .first_row = 0, .rows = rows};
  const Buffer conv = bench.floats(std::uint64_t{rows} * 3 * heads * dim),
               x = bench.floats(std::uint64_t{rows} * pitch), bias = bench.floats(heads),
               a = bench.upload(std::vector<float>(heads, -0.1f)),
               state = bench.buffer(std::uint64_t{heads} * dim * dim * 4),
               out = bench.buffer(std::uint64_t{rows} * heads * dim * 4),
               segments = bench.upload(std::vector<Segment>{segment});
  std::vector<gpu::PipelineOptions> options;
  std::vector<gpu::Workgroups> workgroups;
  std::vector<std::string> names;
  const DeltaChunkTuning base = delta_chunk_tuning(bench.device(), spec);
  for (const std::uint32_t lanes : {2u, 4u, 8u, 16u, 32u}) {
    for (const std::uint32_t columns : {4u, 8u, 16u, 32u}) {
      for (const std::uint32_t chunk : {8u, 16u, 32u}) {
        DeltaChunkTuning one = base;
        one.lanes = lanes;
        one.columns = columns;
        one.rows = chunk;
        if (one.workgroup_bytes(spec) > bench.device().limits().workgroup_storage_bytes_max ||
            one.lanes > base.subgroup_size || one.threads() % base.subgroup_size != 0)
          continue;
        options.push_back(delta_chunk_pipeline(spec, one));
        workgroups.push_back(delta_chunk_workgroups(spec, one, 1));
        names.push_back(weft::format("{} lanes, {} columns, {} rows", lanes, columns, chunk));
      }
    }
  }
  const Team team = Team::of(bench.device());
  options.push_back(delta_step_pipeline(spec, team, 128));
  workgroups.push_back(delta_step_workgroups(spec, team, 128, 1));
  names.emplace_back("delta_step");
  const auto pipelines = bench.compile(options);
  std::vector<std::vector<BenchDevice::Step>> steps;
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (!pipelines[i]) continue;
    BenchDevice::Step step{names[i], pipelines[i].get(), {}, workgroups[i]};
    step.groups.push_back(bench.device().create_bind_group(
        *pipelines[i], 0,
        {{0, conv}, {1, x}, {2, bias}, {3, a}, {4, state}, {5, out}, {6, segments}}));
    steps.emplace_back().push_back(std::move(step));
  }
  bench.report("DeltaNet, 16 heads of 128 x 128", steps, 8.0 * rows * heads * dim * dim, 8);
}

}  // namespace weft::kernels
