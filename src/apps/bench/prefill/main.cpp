// prefill_bench: what reading a prompt of 512 rows costs on this machine's GPU, kernel by kernel
// and as a whole chain.
//
//   prefill_bench                     the layers of three models: every kernel, the sum, and all
//                                     layers in one pass
//   prefill_bench sweep               the tunings of every product, of attention and of DeltaNet,
//                                     the fastest first
//   prefill_bench delta               the tunings of DeltaNet alone
//   prefill_bench halves              the chains with rows in f16 between the kernels
//   prefill_bench rows=64 layers=1    fewer rows, one layer
//
// Times are the GPU's own (timestamps), after half a second of work. Build: ninja prefill_bench.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <memory>
#include <print>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "common/base/format.h"
#include "engine/gpu/native/instance.h"
#include "engine/gpu/timer.h"
#include "engine/kernels/matvec.h"
#include "engine/kernels/prefill/delta_chunk.h"
#include "engine/kernels/prefill/flash_attention.h"
#include "engine/kernels/prefill/matmul.h"
#include "engine/kernels/prefill/norm_halves.h"
#include "engine/kernels/rms_norm.h"
#include "engine/kernels/rotary.h"

namespace weft::kernels {
namespace {

using gpu::BindGroup;
using gpu::Buffer;
using gpu::BufferUsage;
using gpu::Pipeline;

std::uint32_t rows = 512;
std::uint32_t layers_max = 100;
std::uint32_t warm_up_ms = 500;
std::uint32_t shapes_max = 100;
bool halves = false;  // Rows go from kernel to kernel as f16 where they can.

struct Model {
  std::string_view name;
  std::uint32_t hidden, heads, kv_heads, head_dim, feed_forward, layers;
  [[nodiscard]] std::uint32_t qkv() const { return (heads + 2 * kv_heads) * head_dim; }
};
constexpr Model models[] = {{"Llama 3.2 1B", 2048, 32, 8, 64, 8192, 16},
                            {"Qwen2.5 0.5B", 896, 14, 2, 64, 4864, 24},
                            {"TinyLlama 1.1B", 2048, 32, 4, 64, 5632, 22}};

// Large: the whole of one measuring program.
class Bench {
 public:
  explicit Bench(gpu::PumpedInstance& instance, gpu::Device& device)
      : instance_(instance), device_(device), timer_(device) {
    std::vector<std::uint32_t> noise(std::size_t{4} << 20);
    std::mt19937 random(1);
    for (auto& word : noise) word = static_cast<std::uint32_t>(random());
    noise_ = buffer(noise.size() * 4);
    device_.write(noise_, 0, as_bytes(std::span<const std::uint32_t>(noise)));
    std::normal_distribution<float> normal;
    std::vector<float> floats(std::size_t{rows} * 8192);
    for (float& value : floats) value = normal(random);
    floats_ = buffer(floats.size() * 4);
    device_.write(floats_, 0, as_bytes(std::span<const float>(floats)));
    const BatchSize size{.rows = rows, .segments = 1};
    size_ = device_.create_buffer(
        {.size = sizeof size, .usage = BufferUsage::uniform | BufferUsage::copy_destination});
    device_.write(size_, 0, {reinterpret_cast<const std::uint8_t*>(&size), sizeof size});
  }

  void sweep();
  void sweep_delta();
  void chains();

 private:
  struct Step {
    std::string what;
    const Pipeline* pipeline = nullptr;
    std::vector<BindGroup> groups;
    gpu::Workgroups workgroups;
  };

  Buffer buffer(std::uint64_t bytes) {
    return device_.create_buffer(
        {.size = (bytes + 255) / 256 * 256,
         .usage = BufferUsage::storage | BufferUsage::copy_source | BufferUsage::copy_destination});
  }
  template <class T>
  Buffer upload(const std::vector<T>& values) {
    Buffer made = buffer(values.size() * sizeof(T));
    device_.write(made, 0, as_bytes(std::span<const T>(values)));
    return made;
  }
  // Random bytes, so that the card draws the power that it would.
  Buffer noise(std::uint64_t bytes) {
    Buffer made = buffer(bytes);
    gpu::Encoder encoder = device_.create_encoder();
    for (std::uint64_t at = 0; at < made.size(); at += noise_.size())
      encoder.copy(noise_, 0, made, at, std::min(noise_.size(), made.size() - at));
    device_.submit(std::move(encoder));
    return made;
  }
  // f16 scales of about 0.0005.
  Buffer scales(std::uint64_t bytes) {
    return upload(std::vector<std::uint32_t>(bytes / 4 + 64, 0x10001000));
  }
  Buffer floats(std::uint64_t count) {
    Buffer made = buffer(count * 4);
    gpu::Encoder encoder = device_.create_encoder();
    for (std::uint64_t at = 0; at < made.size(); at += floats_.size())
      encoder.copy(floats_, 0, made, at, std::min(floats_.size(), made.size() - at));
    device_.submit(std::move(encoder));
    return made;
  }

  // All at once: the driver compiles them side by side.
  std::vector<std::unique_ptr<Pipeline>> compile(const std::vector<gpu::PipelineOptions>& all) {
    std::vector<std::unique_ptr<Pipeline>> out(all.size());
    std::size_t left = all.size();
    for (std::size_t i = 0; i < all.size(); ++i) {
      start<Result<Pipeline>>(device_.create_pipeline(all[i]),
                              [&out, &left, &all, i](Result<Pipeline> made) {
                                if (made)
                                  out[i] = std::make_unique<Pipeline>(std::move(*made));
                                else
                                  std::println("{}: {}", all[i].label, made.error().message);
                                --left;
                              });
    }
    while (left > 0) instance_.poll(std::chrono::milliseconds(100));
    return out;
  }

  // Seconds of one go through the steps; 0 without timestamps.
  double seconds(std::span<const Step> steps, std::uint32_t times) {
    gpu::Encoder encoder = device_.create_encoder();
    {
      gpu::Pass pass = encoder.begin_pass("bench", timer_.next("bench"));
      for (std::uint32_t i = 0; i < times; ++i) {
        for (const Step& step : steps) {
          std::vector<const BindGroup*> groups;
          for (const BindGroup& group : step.groups) groups.push_back(&group);
          pass.run(*step.pipeline, groups, step.workgroups);
        }
      }
    }
    timer_.record(encoder);
    device_.submit(std::move(encoder));
    const auto measured = gpu::run(instance_, timer_.times());
    return measured && !measured->empty() ? measured->front().seconds() / times : 0;
  }
  double best(std::span<const Step> steps, std::uint32_t times) {
    double least = 1e9;
    for (int round = 0; round < 3; ++round) least = std::min(least, seconds(steps, times));
    return least;
  }
  void warm_up(std::span<const Step> steps) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(warm_up_ms);
    while (std::chrono::steady_clock::now() < end) (void)seconds(steps, 8);
  }

  void sweep_matmul();
  void sweep_attention();
  void report(std::string_view title, std::vector<std::vector<Step>>& steps, double operations,
              std::size_t shown);

  gpu::PumpedInstance& instance_;
  gpu::Device& device_;
  gpu::PassTimer timer_;
  Buffer noise_, floats_, size_;
};

void Bench::report(std::string_view title, std::vector<std::vector<Step>>& steps, double operations,
                   std::size_t shown) {
  std::vector<std::pair<double, std::string>> times;
  if (!steps.empty())
    warm_up(steps.front());  // The card went to sleep while the pipelines were compiled.
  for (const std::vector<Step>& step : steps) times.emplace_back(best(step, 8), step.front().what);
  std::ranges::sort(times);
  std::println("{}", title);
  for (std::size_t i = 0; i < std::min(shown, times.size()); ++i)
    std::println("  {:7.1f} us {:6.1f} TFLOP/s  {}", times[i].first * 1e6,
                 operations / times[i].first * 1e-12, times[i].second);
}

void Bench::sweep_matmul() {
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
  for (const Shape& shape :
       std::span(shapes).first(std::min<std::size_t>(shapes_max, std::size(shapes)))) {
    const MatmulSpec spec{.format = WeightFormat::q8,
                          .weight_rows = shape.n,
                          .columns = shape.k,
                          .x_pitch = shape.k,
                          .y_pitch = shape.output == MatmulOutput::swiglu ? shape.n / 2 : shape.n,
                          .output = shape.output};
    const WeightLayout layout{spec.format, shape.k};
    const Buffer quants = noise(std::uint64_t{layout.quant_row_bytes()} * shape.n),
                 scale = scales(std::uint64_t{layout.scale_row_bytes()} * shape.n),
                 x = floats(std::uint64_t{rows} * shape.k),
                 y = floats(std::uint64_t{rows} * spec.y_pitch),
                 partial = buffer(std::uint64_t{8} * rows * shape.n * 4);
    const Buffer x_in_halves =
        upload(std::vector<std::uint32_t>(std::size_t{rows} * shape.k / 2, 0x3a00bc12));
    std::vector<std::pair<MatmulSpec, MatmulTuning>> tunings;
    std::vector<gpu::PipelineOptions> options;
    const MatmulTuning base = matmul_tuning(device_, spec, {.rows = rows});
    if (base.matrix_m == 0) return;
    for (const Tile& tile : tiles) {
      for (const std::uint32_t splits : {1u, 2u, 3u, 4u, 6u, 8u}) {
        for (const bool x_halves : {false, true}) {
          if (halves && !x_halves) continue;
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
          if (one.workgroup_bytes() > device_.limits().workgroup_storage_bytes_max ||
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
    const auto pipelines = compile(options);
    std::vector<std::vector<Step>> steps;
    for (std::size_t i = 0; i < products; ++i) {
      if (!pipelines[i]) continue;
      const auto& [wanted, one] = tunings[i];
      Step step{weft::format("{}x{}x{} subgroup {}x{} splits {}{}", one.tile_rows, one.tile_columns,
                             one.tile_depth, one.subgroup_rows, one.subgroup_columns, one.splits,
                             wanted.x_halves ? " x f16" : ""),
                pipelines[i].get(),
                {},
                matmul_workgroups(spec, one, rows)};
      step.groups.push_back(device_.create_bind_group(*pipelines[i], 0, {{0, quants}, {1, scale}}));
      step.groups.push_back(device_.create_bind_group(*pipelines[i], 1,
                                                      {{0, wanted.x_halves ? x_in_halves : x},
                                                       {1, one.splits > 1 ? partial : y},
                                                       {2, x},
                                                       {3, size_}}));
      steps.emplace_back();
      steps.back().push_back(std::move(step));
      if (one.splits == 1) continue;
      const Pipeline& sum = *pipelines[products + one.splits - 2];
      Step add{"", &sum, {}, matmul_sum_workgroups(spec, rows)};
      add.groups.push_back(
          device_.create_bind_group(sum, 0, {{0, partial}, {1, y}, {2, x}, {3, size_}}));
      steps.back().push_back(std::move(add));
    }
    report(weft::format("{} x {} {} ({} tunings)", shape.n, shape.k,
                        spec.output == MatmulOutput::swiglu ? "swiglu" : "plain", steps.size()),
           steps, 2.0 * rows * shape.n * shape.k, 7);
  }
}

void Bench::sweep_attention() {
  for (const Model& model : models) {
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
      const Buffer q = floats(std::uint64_t{rows} * model.qkv()), place = upload(places),
                   keys = upload(ones), values = upload(ones),
                   out = buffer(std::uint64_t{rows} * model.heads * model.head_dim * 4);
      std::vector<FlashTuning> tunings = {flash_tuning(device_, spec, true)};
      const FlashTuning base = flash_tuning(device_, spec);
      for (const std::uint32_t subgroups : {1u, 2u, 4u, 8u}) {
        for (const std::uint32_t positions : {16u, 32u, 64u, 128u}) {
          FlashTuning one = base;
          one.tile_rows = subgroups * base.matrix_m;
          one.tile_positions = positions;
          if (base.matrix_m != 0 && positions >= 2 * base.matrix_m &&
              one.workgroup_bytes(spec) <= device_.limits().workgroup_storage_bytes_max)
            tunings.push_back(one);
        }
      }
      std::vector<gpu::PipelineOptions> options;
      for (const FlashTuning& one : tunings) options.push_back(flash_attention_pipeline(spec, one));
      const auto pipelines = compile(options);
      std::vector<std::vector<Step>> steps;
      std::vector<Buffer> tile_buffers;
      for (std::size_t i = 0; i < tunings.size(); ++i) {
        if (!pipelines[i]) continue;
        const auto tiles = attention_tiles({&segment, 1}, tunings[i]);
        tile_buffers.push_back(upload(tiles));
        Step step{weft::format("{} rows, {} positions, matrix {}", tunings[i].tile_rows,
                               tunings[i].tile_positions, tunings[i].matrix_m),
                  pipelines[i].get(),
                  {},
                  flash_attention_workgroups(spec, static_cast<std::uint32_t>(tiles.size()))};
        step.groups.push_back(device_.create_bind_group(
            *pipelines[i], 0,
            {{0, q}, {1, place}, {2, keys}, {3, values}, {4, out}, {5, tile_buffers.back()}}));
        steps.emplace_back().push_back(std::move(step));
      }
      report(weft::format("attention of {} from {}", model.name, start), steps,
             4.0 * rows * (start + rows / 2.0) * model.heads * model.head_dim, 5);
    }
  }
}

void Bench::sweep_delta() {
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
  const Buffer conv = floats(std::uint64_t{rows} * 3 * heads * dim),
               x = floats(std::uint64_t{rows} * pitch), bias = floats(heads),
               a = upload(std::vector<float>(heads, -0.1f)),
               state = buffer(std::uint64_t{heads} * dim * dim * 4),
               out = buffer(std::uint64_t{rows} * heads * dim * 4),
               segments = upload(std::vector<Segment>{segment});
  std::vector<gpu::PipelineOptions> options;
  std::vector<gpu::Workgroups> workgroups;
  std::vector<std::string> names;
  const DeltaChunkTuning base = delta_chunk_tuning(device_, spec);
  for (const std::uint32_t lanes : {2u, 4u, 8u, 16u, 32u}) {
    for (const std::uint32_t columns : {4u, 8u, 16u, 32u}) {
      for (const std::uint32_t chunk : {8u, 16u, 32u}) {
        DeltaChunkTuning one = base;
        one.lanes = lanes;
        one.columns = columns;
        one.rows = chunk;
        if (one.workgroup_bytes(spec) > device_.limits().workgroup_storage_bytes_max ||
            one.lanes > base.subgroup_size || one.threads() % base.subgroup_size != 0)
          continue;
        options.push_back(delta_chunk_pipeline(spec, one));
        workgroups.push_back(delta_chunk_workgroups(spec, one, 1));
        names.push_back(weft::format("{} lanes, {} columns, {} rows", lanes, columns, chunk));
      }
    }
  }
  const Team team = Team::of(device_);
  options.push_back(delta_step_pipeline(spec, team, 128));
  workgroups.push_back(delta_step_workgroups(spec, team, 128, 1));
  names.emplace_back("delta_step");
  const auto pipelines = compile(options);
  std::vector<std::vector<Step>> steps;
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (!pipelines[i]) continue;
    Step step{names[i], pipelines[i].get(), {}, workgroups[i]};
    step.groups.push_back(device_.create_bind_group(
        *pipelines[i], 0,
        {{0, conv}, {1, x}, {2, bias}, {3, a}, {4, state}, {5, out}, {6, segments}}));
    steps.emplace_back().push_back(std::move(step));
  }
  report("DeltaNet, 16 heads of 128 x 128", steps, 8.0 * rows * heads * dim * dim, 8);
}

void Bench::sweep() {
  sweep_matmul();
  sweep_attention();
  sweep_delta();
}

void Bench::chains() {
  for (Model model : models) {
    model.layers = std::min(model.layers, layers_max);
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
    FlashTuning flash = flash_tuning(device_, attention);
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
      tunings.push_back(matmul_tuning(device_, spec, {.rows = rows}));
      options.push_back(matmul_pipeline(spec, tunings.back()));
      options.push_back(matmul_sum_pipeline(spec, tunings.back()));
      if (tunings.back().splits > 1)
        partial_bytes = std::max(partial_bytes, matmul_partial_bytes(spec, tunings.back(), rows));
    }
    const auto pipelines = compile(options);

    std::vector<RowPlace> places;
    for (std::uint32_t i = 0; i < rows; ++i) places.push_back({.slot = 0, .position = i, .run = i});
    std::vector<float> turns;
    for (std::uint32_t i = 0; i < rows * model.head_dim / 2; ++i)
      turns.insert(turns.end(), {0.8f, 0.6f});
    const Buffer hidden_state = floats(std::uint64_t{rows} * hidden),
                 normed = buffer(std::uint64_t{rows} * hidden * 4),
                 qkv = buffer(std::uint64_t{rows} * model.qkv() * 4),
                 gathered = buffer(std::uint64_t{rows} * q_dim * 4),
                 gated = buffer(std::uint64_t{rows} * model.feed_forward * 4),
                 partial = buffer(partial_bytes),
                 ones = upload(std::vector<float>(std::max(hidden, model.qkv()), 1.0f)),
                 place = upload(places), turn = upload(turns), keys = buffer(cache.bytes()),
                 values = buffer(cache.bytes()), tile = upload(tiles);
    const Buffer* inputs[] = {&normed, &gathered, &normed, &gated};
    const Buffer* outputs[] = {&qkv, &hidden_state, &gated, &hidden_state};

    std::vector<Buffer> weights;
    std::vector<Step> chain;
    std::vector<std::vector<Step>> kinds(8);
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
        groups.push_back(device_.create_bind_group(*pipelines[0], 0, bound));
        return groups;
      });
    };
    const auto product = [&](std::size_t p) {
      const MatmulSpec& spec = products[p];
      const WeightLayout layout{spec.format, spec.columns};
      weights.push_back(noise(std::uint64_t{layout.quant_row_bytes()} * spec.weight_rows));
      weights.push_back(scales(std::uint64_t{layout.scale_row_bytes()} * spec.weight_rows));
      const Buffer& quants = weights[weights.size() - 2];
      const Buffer& scale = weights.back();
      const bool split = tunings[p].splits > 1;
      const Pipeline* pipeline = pipelines[3 + 2 * p].get();
      add(3 + p, product_names[p], pipeline, matmul_workgroups(spec, tunings[p], rows), [&] {
        std::vector<BindGroup> groups;
        groups.push_back(device_.create_bind_group(*pipeline, 0, {{0, quants}, {1, scale}}));
        groups.push_back(device_.create_bind_group(
            *pipeline, 1,
            {{0, *inputs[p]}, {1, split ? partial : *outputs[p]}, {2, ones}, {3, size_}}));
        return groups;
      });
      if (!split) return;
      const Pipeline* sum = pipelines[4 + 2 * p].get();
      add(3 + p, product_names[p], sum, matmul_sum_workgroups(spec, rows), [&] {
        std::vector<BindGroup> groups;
        groups.push_back(device_.create_bind_group(
            *sum, 0, {{0, partial}, {1, *outputs[p]}, {2, ones}, {3, size_}}));
        return groups;
      });
    };
    weights.reserve(std::size_t{8} * model.layers);
    for (std::uint32_t layer = 0; layer < model.layers; ++layer) {
      norm();
      product(0);
      add(1, "rotary", pipelines[1].get(), rotary_workgroups(rotary, rows), [&] {
        std::vector<BindGroup> groups;
        groups.push_back(device_.create_bind_group(
            *pipelines[1], 0,
            {{0, qkv}, {1, place}, {2, turn}, {3, ones}, {4, ones}, {5, keys}, {6, values}}));
        return groups;
      });
      add(2, "attention", pipelines[2].get(),
          flash_attention_workgroups(attention, static_cast<std::uint32_t>(tiles.size())), [&] {
            std::vector<BindGroup> groups;
            groups.push_back(device_.create_bind_group(
                *pipelines[2], 0,
                {{0, qkv}, {1, place}, {2, keys}, {3, values}, {4, gathered}, {5, tile}}));
            return groups;
          });
      product(1);
      norm();
      product(2);
      product(3);
    }

    warm_up(chain);
    const double whole = best(chain, 4);
    std::println("{}: {} layers of {} rows in {:.2f} ms, {:.0f} rows/s", model.name, model.layers,
                 rows, whole * 1e3, rows / whole);
    double sum = 0;
    for (const std::vector<Step>& kind : kinds) {
      if (kind.empty()) continue;
      const double each = best(kind, 4);
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

int bench(std::span<const std::string_view> arguments) {
  const auto instance = gpu::native::create_instance();
  auto device = gpu::run(
      *instance, instance->create_device({.label = "prefill_bench", .trusted_shaders = true}));
  if (!device) {
    std::println("{}", device.error().message);
    return 1;
  }
  std::println("{}", (*device)->adapter().device);
  for (const std::string_view argument : arguments) {
    const auto number = [&](std::string_view name, std::uint32_t& out) {
      if (argument.starts_with(name))
        std::from_chars(argument.data() + name.size(), argument.data() + argument.size(), out);
    };
    number("rows=", rows);
    number("layers=", layers_max);
    number("warm=", warm_up_ms);
    number("shapes=", shapes_max);
  }
  halves = std::ranges::find(arguments, "halves") != arguments.end();
  Bench one(*instance, **device);
  if (std::ranges::find(arguments, "delta") != arguments.end())
    one.sweep_delta();
  else if (std::ranges::find(arguments, "sweep") != arguments.end())
    one.sweep();
  else
    one.chains();
  for (const std::string& error : (*device)->uncaptured_errors()) std::println("{}", error);
  return 0;
}

}  // namespace
}  // namespace weft::kernels

int main(int count, char** values) {
  const std::vector<std::string_view> arguments(values + 1, values + count);
  return weft::kernels::bench(arguments);
}
