#include "apps/bench/prefill/chains.h"

#include <algorithm>
#include <print>
#include <string>
#include <vector>

#include "apps/bench/prefill/models.h"
#include "common/base/format.h"
#include "engine/kernels/matvec.h"
#include "engine/kernels/prefill/flash_attention.h"
#include "engine/kernels/prefill/matmul.h"
#include "engine/kernels/prefill/norm_halves.h"
#include "engine/kernels/rms_norm.h"
#include "engine/kernels/rotary.h"

namespace weft::kernels {

using gpu::BindGroup;
using gpu::Buffer;
using gpu::Pipeline;

void measure_chains(BenchDevice& bench) {
  const std::uint32_t rows = bench.options().rows;
  const bool halves = bench.options().halves;
  for (BenchModel model : bench_models) {
    model.layers = std::min(model.layers, bench.options().layers_max);
    const std::uint32_t hidden = model.hidden, q_dim = model.heads * model.head_dim;
    const KvCacheSpec cache{.format = KvCacheFormat::f16,
                            .slots = 1,
                            .kv_heads = model.kv_heads,
                            .context = rows,
                            .head_dim = model.head_dim};
    const AttentionSpec attention{
        .cache = cache, .heads = model.heads, .q_stride = model.head_dim, .pitch = model.qkv()};
    const RotarySpec rotary{.cache = cache,
                            .heads = model.heads,
                            .q_stride = model.head_dim,
                            .pitch = model.qkv(),
                            .k_offset = q_dim,
                            .v_offset = q_dim + model.kv_heads * model.head_dim,
                            .pairs = model.head_dim / 2};
    MatmulSpec products[] = {{.format = WeightFormat::q8,
                              .weight_rows = model.qkv(),
                              .columns = hidden,
                              .x_pitch = hidden,
                              .y_pitch = model.qkv(),
                              .bias = true},
                             {.format = WeightFormat::q8,
                              .weight_rows = hidden,
                              .columns = q_dim,
                              .x_pitch = q_dim,
                              .y_pitch = hidden,
                              .output = MatmulOutput::accumulate},
                             {.format = WeightFormat::q8,
                              .weight_rows = 2 * model.feed_forward,
                              .columns = hidden,
                              .x_pitch = hidden,
                              .y_pitch = model.feed_forward,
                              .output = MatmulOutput::swiglu},
                             {.format = WeightFormat::q8,
                              .weight_rows = hidden,
                              .columns = model.feed_forward,
                              .x_pitch = model.feed_forward,
                              .y_pitch = hidden,
                              .output = MatmulOutput::accumulate}};
    constexpr std::string_view product_names[] = {"qkv", "out", "gate+up", "down"};
    FlashTuning flash = flash_tuning(bench.device(), attention);
    if (halves && flash.matrix_m != 0) {
      for (MatmulSpec& spec : products) spec.x_halves = true;
      products[2].y_halves = true;
      flash.out_halves = true;
    }
    const Segment segment{.slot = 0, .first_row = 0, .rows = rows};
    const auto tiles = attention_tiles({&segment, 1}, flash);

    std::vector<gpu::PipelineOptions> options = {
        halves ? norm_halves_pipeline({.columns = hidden, .epsilon = 1e-5f})
               : rms_norm_pipeline({.columns = hidden, .epsilon = 1e-5f}),
        rotary_pipeline(rotary), flash_attention_pipeline(attention, flash)};
    std::vector<MatmulTuning> tunings;
    std::uint64_t partial_bytes = 256;
    for (const MatmulSpec& spec : products) {
      tunings.push_back(matmul_tuning(bench.device(), spec, {.rows = rows}));
      options.push_back(matmul_pipeline(spec, tunings.back()));
      options.push_back(matmul_sum_pipeline(spec, tunings.back()));
      if (tunings.back().splits > 1)
        partial_bytes = std::max(partial_bytes, matmul_partial_bytes(spec, tunings.back(), rows));
    }
    const auto pipelines = bench.compile(options);

    std::vector<RowPlace> places;
    for (std::uint32_t i = 0; i < rows; ++i) places.push_back({.slot = 0, .position = i, .run = i});
    std::vector<float> turns;
    for (std::uint32_t i = 0; i < rows * model.head_dim / 2; ++i)
      turns.insert(turns.end(), {0.8f, 0.6f});
    const Buffer hidden_state = bench.floats(std::uint64_t{rows} * hidden),
                 normed = bench.buffer(std::uint64_t{rows} * hidden * 4),
                 qkv = bench.buffer(std::uint64_t{rows} * model.qkv() * 4),
                 gathered = bench.buffer(std::uint64_t{rows} * q_dim * 4),
                 gated = bench.buffer(std::uint64_t{rows} * model.feed_forward * 4),
                 partial = bench.buffer(partial_bytes),
                 ones = bench.upload(std::vector<float>(std::max(hidden, model.qkv()), 1.0f)),
                 place = bench.upload(places), turn = bench.upload(turns),
                 keys = bench.buffer(cache.bytes()), values = bench.buffer(cache.bytes()),
                 tile = bench.upload(tiles);
    const Buffer* inputs[] = {&normed, &gathered, &normed, &gated};
    const Buffer* outputs[] = {&qkv, &hidden_state, &gated, &hidden_state};

    std::vector<Buffer> weights;
    std::vector<BenchDevice::Step> chain;
    std::vector<std::vector<BenchDevice::Step>> kinds(8);
    const auto add = [&](std::size_t kind, std::string_view what, const Pipeline* pipeline,
                         gpu::Workgroups workgroups, const auto& make_groups) {
      chain.push_back({std::string(what), pipeline, make_groups(), workgroups});
      kinds[kind].push_back({std::string(what), pipeline, make_groups(), workgroups});
    };
    const auto norm = [&] {
      add(0, "norms", pipelines[0].get(), rms_norm_workgroups(rows), [&] {
        std::vector<BindGroup> groups;
        std::vector<gpu::BoundBuffer> bound = {{0, hidden_state}, {1, ones}, {2, normed}};
        if (!halves) bound.push_back({3, place});
        groups.push_back(bench.device().create_bind_group(*pipelines[0], 0, bound));
        return groups;
      });
    };
    const auto product = [&](std::size_t p) {
      const MatmulSpec& spec = products[p];
      const WeightLayout layout{spec.format, spec.columns};
      weights.push_back(bench.noise(std::uint64_t{layout.quant_row_bytes()} * spec.weight_rows));
      weights.push_back(bench.scales(std::uint64_t{layout.scale_row_bytes()} * spec.weight_rows));
      const Buffer& quants = weights[weights.size() - 2];
      const Buffer& scale = weights.back();
      const bool split = tunings[p].splits > 1;
      const Pipeline* pipeline = pipelines[3 + 2 * p].get();
      add(3 + p, product_names[p], pipeline, matmul_workgroups(spec, tunings[p], rows), [&] {
        std::vector<BindGroup> groups;
        groups.push_back(bench.device().create_bind_group(*pipeline, 0, {{0, quants}, {1, scale}}));
        groups.push_back(bench.device().create_bind_group(
            *pipeline, 1,
            {{0, *inputs[p]}, {1, split ? partial : *outputs[p]}, {2, ones}, {3, bench.size()}}));
        return groups;
      });
      if (!split) return;
      const Pipeline* sum = pipelines[4 + 2 * p].get();
      add(3 + p, product_names[p], sum, matmul_sum_workgroups(spec, rows), [&] {
        std::vector<BindGroup> groups;
        groups.push_back(bench.device().create_bind_group(
            *sum, 0, {{0, partial}, {1, *outputs[p]}, {2, ones}, {3, bench.size()}}));
        return groups;
      });
    };
    weights.reserve(std::size_t{8} * model.layers);
    for (std::uint32_t layer = 0; layer < model.layers; ++layer) {
      norm();
      product(0);
      add(1, "rotary", pipelines[1].get(), rotary_workgroups(rotary, rows), [&] {
        std::vector<BindGroup> groups;
        groups.push_back(bench.device().create_bind_group(
            *pipelines[1], 0,
            {{0, qkv}, {1, place}, {2, turn}, {3, ones}, {4, ones}, {5, keys}, {6, values}}));
        return groups;
      });
      add(2, "attention", pipelines[2].get(),
          flash_attention_workgroups(attention, static_cast<std::uint32_t>(tiles.size())), [&] {
            std::vector<BindGroup> groups;
            groups.push_back(bench.device().create_bind_group(
                *pipelines[2], 0,
                {{0, qkv}, {1, place}, {2, keys}, {3, values}, {4, gathered}, {5, tile}}));
            return groups;
          });
      product(1);
      norm();
      product(2);
      product(3);
    }

    bench.warm_up(chain);
    const double whole = bench.best(chain, 4);
    std::println("{}: {} layers of {} rows in {:.2f} ms, {:.0f} rows/s", model.name, model.layers,
                 rows, whole * 1e3, rows / whole);
    double sum = 0;
    for (const std::vector<BenchDevice::Step>& kind : kinds) {
      if (kind.empty()) continue;
      const double each = bench.best(kind, 4);
      sum += each;
      const auto at = std::ranges::find(product_names, kind.front().what);
      std::string how;
      if (at != std::end(product_names)) {
        const auto p = static_cast<std::size_t>(at - std::begin(product_names));
        const MatmulTuning& one = tunings[p];
        how = weft::format(" {:.0f} TFLOP/s, tile {}x{}x{} subgroup {}x{} splits {}",
                           2.0 * rows * products[p].weight_rows * products[p].columns *
                               model.layers / each * 1e-12,
                           one.tile_rows, one.tile_columns, one.tile_depth, one.subgroup_rows,
                           one.subgroup_columns, one.splits);
      }
      std::println("  {:10} {:8.1f} us a layer{}", kind.front().what, each * 1e6 / model.layers,
                   how);
    }
    std::println("  sum of kernels {:.2f} ms", sum * 1e3);
  }
}

}  // namespace weft::kernels
