// decode_bench: measures a decoding step of several sequences on this machine's GPU, kernel by
// kernel, with the shapes of Llama 3.2 1B in Q8_0.
//
//   decode_bench                  the engine's kernels, for 1, 8, 32 and 256 rows
//   decode_bench sweep            also the tilings of every matrix product
//   decode_bench probe            products with one of their inputs left out
//   decode_bench rows=64 positions=576
//
// Times are measured by the GPU (timestamps), after half a second of work. Build: ninja
// decode_bench.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <memory>
#include <print>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/base/format.h"
#include "engine/gpu/native/instance.h"
#include "engine/gpu/timer.h"
#include "engine/kernels/batch.h"
#include "engine/kernels/decode/decode_attention.h"
#include "engine/kernels/decode/product_tile.h"
#include "engine/kernels/sampling/gpu_sampler.h"

namespace weft::kernels {
namespace {

using gpu::BindGroup;
using gpu::Buffer;
using gpu::BufferUsage;
using gpu::Pipeline;
using Input = Int8ProductSpec::Input;
using Output = Int8ProductSpec::Output;

constexpr std::uint32_t rows_max = 256, page = 64;

struct Shape {
  std::string_view name;
  std::uint32_t weights, columns;
  Input input;
  Output output;
  std::uint32_t share, workgroup, rows_each, rows_each_many;
  double times;  // Runs of this shape in one decoding step.
};
constexpr Shape shapes[] = {
    {"qkv", 3072, 2048, Input::norm, Output::store, 1, 256, 1, 2, 16},
    {"output", 2048, 2048, Input::quantized, Output::accumulate, 1, 256, 1, 2, 16},
    {"gates", 16384, 2048, Input::norm, Output::swiglu, 1, 512, 2, 2, 16},
    {"down", 2048, 8192, Input::quantized, Output::accumulate, 4, 256, 1, 2, 16},
    {"head", 128256, 2048, Input::quantized, Output::store, 1, 256, 1, 2, 1}};

struct Settings {
  std::vector<std::uint32_t> rows{1, 8, 32, 256};
  std::uint32_t positions = 576;
  bool sweep = false;
  bool probe = false;  // Measures products with one input left out.
};

class Bench {
 public:
  Bench(gpu::PumpedInstance& instance, gpu::Device& device)
      : instance_(instance),
        device_(device),
        timer_(device),
        team_(Team::of(device)),
        packed_(device.has("packed_4x8_integer_dot_product")) {
    std::vector<std::uint32_t> noise(std::size_t{4} << 20);
    std::mt19937 random(1);
    for (auto& word : noise) word = static_cast<std::uint32_t>(random());
    noise_ = upload(noise);
    std::normal_distribution<float> normal;
    std::vector<float> floats(std::size_t{rows_max} * 8192);
    for (float& value : floats) value = normal(random);
    floats_ = upload(floats);
    ones_ = upload(std::vector<float>(std::size_t{1} << 21, 0.01f));
    size_ = device_.create_buffer(
        {.size = sizeof(BatchSize), .usage = BufferUsage::uniform | BufferUsage::copy_destination});
    out_ = buffer(std::uint64_t{rows_max} * 128256 * 4);
  }

  void products(const Settings& settings);
  void attention(const Settings& settings);
  void draws(const Settings& settings);

 private:
  struct Step {
    std::string what;
    const Pipeline* pipeline = nullptr;
    std::vector<BindGroup> groups;
    gpu::Workgroups workgroups;
  };
  struct Option {
    std::string what;
    gpu::PipelineOptions pipeline;
    gpu::Workgroups workgroups;
    Input input;
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
  Buffer filled(const Buffer& with, std::uint64_t bytes) {
    Buffer made = buffer(bytes);
    gpu::Encoder encoder = device_.create_encoder();
    for (std::uint64_t at = 0; at < made.size(); at += with.size())
      encoder.copy(with, 0, made, at, std::min(with.size(), made.size() - at));
    device_.submit(std::move(encoder));
    return made;
  }
  void set_rows(std::uint32_t rows) {
    const BatchSize size{.rows = rows, .segments = rows};
    device_.write(size_, 0, {reinterpret_cast<const std::uint8_t*>(&size), sizeof size});
  }
  // Compiles all pipelines together, so that the driver can do so concurrently.
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
  // Seconds of one step. Each run uses the next of several copies of the weights, so that the cache
  // never holds them.
  double seconds(std::span<const Step> steps, std::uint32_t times) {
    gpu::Encoder encoder = device_.create_encoder();
    {
      gpu::Pass pass = encoder.begin_pass("bench", timer_.next("bench"));
      for (std::uint32_t i = 0; i < times; ++i) {
        const Step& step = steps[i % steps.size()];
        std::vector<const BindGroup*> groups;
        for (const BindGroup& group : step.groups) groups.push_back(&group);
        pass.run(*step.pipeline, groups, step.workgroups);
      }
    }
    timer_.record(encoder);
    device_.submit(std::move(encoder));
    const auto measured = gpu::run(instance_, timer_.times());
    return measured && !measured->empty() ? measured->front().seconds() / times : 0;
  }
  double best(std::span<const Step> steps) {
    double least = 1e9;
    for (int round = 0; round < 3; ++round) least = std::min(least, seconds(steps, 24));
    return least;
  }
  void warm_up(std::span<const Step> steps) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
    while (std::chrono::steady_clock::now() < end) (void)seconds(steps, 64);
  }
  std::vector<Option> options_of(const Shape& shape, std::uint32_t rows,
                                 const Settings& settings) const;

  gpu::PumpedInstance& instance_;
  gpu::Device& device_;
  gpu::PassTimer timer_;
  const Team team_;
  const bool packed_;
  Buffer noise_, floats_, ones_, size_, out_;
};

std::vector<Bench::Option> Bench::options_of(const Shape& shape, std::uint32_t rows,
                                             const Settings& settings) const {
  std::vector<Option> out;
  Int8ProductSpec spec{.format = WeightFormat::q8,
                       .weight_rows = shape.weights,
                       .columns = shape.columns,
                       .input = shape.input,
                       .output = shape.output,
                       .y_pitch = shape.weights,
                       .epsilon = 1e-5f,
                       .batch = rows == 1 ? 1u : 4u,
                       .rows_each = rows <= 4 ? shape.rows_each : shape.rows_each_many,
                       .share = shape.share};
  spec.ahead = std::clamp(8u / spec.rows_each, 1u, 4u);
  out.push_back({weft::format("rows, {} of {}", spec.batch, spec.rows_each),
                 int8_product_pipeline(spec, team_, shape.workgroup, packed_),
                 int8_product_workgroups(spec, team_, shape.workgroup, rows), spec.input});
  if (rows < 5) return out;
  if (spec.input == Input::norm) spec.input = Input::normed;
  for (const std::uint32_t weights : {2u, 4u, 8u}) {
    for (const std::uint32_t each : {4u, 8u, 16u}) {
      for (const std::uint32_t across : {1u, 2u, 4u, 8u, 16u, 32u}) {
        for (const std::uint32_t down : {1u, 2u, 4u, 8u}) {
          const ProductTile tile{weights, each, across, down};
          if (weights * each > 128 || weights * each < 16 || each * down > rows ||
              tile.workgroup(team_) < 64 || tile.workgroup(team_) > 512 ||
              !product_tile_possible(device_, spec, tile, team_))
            continue;
          if (!settings.sweep && (weights != 4 || each != 8)) continue;
          if (settings.probe &&
              (weights * each < 64 || weights > 8 || across > 2 || down > 2 || across * down != 4))
            continue;
          out.push_back({weft::format("tile {}x{} of {}x{}", down, across, each, weights),
                         product_tile_pipeline(spec, tile, team_, packed_),
                         product_tile_workgroups(spec, tile, rows), spec.input});
          if (!settings.probe) continue;
          const Option plain = out.back();
          const auto with = [&](std::string_view what, std::string_view text,
                                std::string_view instead) {
            Option other = plain;
            const std::size_t at = other.pipeline.wgsl.find(text);
            if (at == std::string::npos) return;
            other.pipeline.wgsl.replace(at, text.size(), instead);
            other.what += what;
            out.push_back(std::move(other));
          };
          with(" magic", "f32(t)", "(bitcast<f32>(t + 1262485504) - 12582912.0)");
          with(" no x scales", "x_scales[(first_row + b) * LANES + lane]", "vec2f(0.01, 0.0)");
          with(" no x", "x_quants[(first_row + b) * LANES + lane]", "vec4u(lane * b)");
          with(" no weights", "quants[row * LANES + lane]", "vec4u(lane * row)");
          with(" no weights' scales", "scales[row * ((LANES + 3u) / 4u) + lane / 4u]",
               "row * lane");
        }
      }
    }
  }
  return out;
}

void Bench::products(const Settings& settings) {
  for (const std::uint32_t rows : settings.rows) {
    set_rows(rows);
    double least_sum = 0, now_sum = 0;
    for (const Shape& shape : shapes) {
      const std::vector<Option> options = options_of(shape, rows, settings);
      std::vector<gpu::PipelineOptions> pipelines_wanted;
      for (const Option& option : options) pipelines_wanted.push_back(option.pipeline);
      const auto pipelines = compile(pipelines_wanted);
      const WeightLayout layout{WeightFormat::q8, shape.columns};
      // Makes enough copies of the weights to exceed a cache of 60 MB.
      const std::uint64_t bytes = std::uint64_t{layout.quant_row_bytes()} * shape.weights;
      std::vector<Buffer> quants, scales;
      for (std::uint64_t all = 0; all < (std::uint64_t{150} << 20) || quants.size() < 2;
           all += bytes) {
        quants.push_back(filled(noise_, bytes));
        scales.push_back(upload(std::vector<std::uint32_t>(
            std::uint64_t{layout.scale_row_bytes()} * shape.weights / 4 + 64, 0x10001000)));
      }
      const Buffer x = filled(floats_, std::uint64_t{rows_max} * shape.columns * 4),
                   x_quants = filled(noise_, std::uint64_t{rows_max} * shape.columns),
                   x_scales = filled(ones_, std::uint64_t{rows_max} * shape.columns / 2);
      std::vector<std::pair<double, std::string>> times;
      double now = 0;
      for (std::size_t i = 0; i < options.size(); ++i) {
        if (!pipelines[i]) continue;
        std::vector<Step> steps;
        for (std::size_t w = 0; w < quants.size(); ++w) {
          Step step{options[i].what, pipelines[i].get(), {}, options[i].workgroups};
          step.groups.push_back(
              device_.create_bind_group(*pipelines[i], 0, {{0, quants[w]}, {1, scales[w]}}));
          std::vector<gpu::BoundBuffer> bound{
              {0, options[i].input == Input::norm ? x : x_quants},
              {1, options[i].input == Input::norm ? ones_ : x_scales},
              {2, out_}};
          if (shape.output == Output::swiglu) {
            bound.push_back({3, x});
          } else {
            bound.push_back({3, ones_});
            bound.push_back({4, size_});
          }
          if (options[i].input == Input::normed) bound.push_back({5, ones_});
          step.groups.push_back(device_.create_bind_group(*pipelines[i], 1, bound));
          steps.push_back(std::move(step));
        }
        if (i == 0) warm_up(steps);
        times.emplace_back(best(steps), options[i].what);
        if (i == 0) now = times.back().first;
      }
      std::ranges::sort(times);
      const double operations = 2.0 * rows * shape.weights * shape.columns;
      std::println("{:3} rows {:7} now {:8.1f} us {:6.1f} TOP/s", rows, shape.name, now * 1e6,
                   operations / now * 1e-12);
      for (std::size_t i = 0; i < std::min<std::size_t>(settings.probe   ? 99
                                                        : settings.sweep ? 6
                                                                         : 3,
                                                        times.size());
           ++i)
        std::println("      {:8.1f} us {:6.1f} TOP/s  {}", times[i].first * 1e6,
                     operations / times[i].first * 1e-12, times[i].second);
      least_sum += times.front().first * shape.times;
      now_sum += now * shape.times;
    }
    std::println("{:3} rows, products of a step: {:.2f} ms now, {:.2f} ms the fastest\n", rows,
                 now_sum * 1e3, least_sum * 1e3);
  }
}

void Bench::attention(const Settings& settings) {
  constexpr std::uint32_t heads = 32, kv_heads = 8, dim = 64, pitch = 3072;
  const std::uint32_t context = (settings.positions + page) / page * page, table = context / page;
  const KvCacheSpec cache{.format = KvCacheFormat::f16,
                          .slots = rows_max,
                          .kv_heads = kv_heads,
                          .context = context,
                          .head_dim = dim,
                          .page = page,
                          .pages = rows_max * table,
                          .table_first = rows_max};
  DecodeAttentionSpec spec{.rotary = {.cache = cache,
                                      .heads = heads,
                                      .q_stride = dim,
                                      .pitch = pitch,
                                      .k_offset = 2048,
                                      .v_offset = 2560,
                                      .pairs = dim / 2},
                           .splits = 48,
                           .share_min = 32};
  std::vector<std::uint32_t> places;
  for (std::uint32_t i = 0; i < rows_max; ++i)
    places.insert(places.end(), {i, settings.positions - 1, 0, 0});
  for (std::uint32_t i = 0; i < rows_max * table; ++i) places.push_back(i);
  const Buffer qkv = filled(floats_, std::uint64_t{rows_max} * pitch * 4), place = upload(places),
               turns = filled(ones_, std::uint64_t{context} * dim * 4),
               keys = filled(ones_, cache.bytes()), values = filled(ones_, cache.bytes()),
               shares = buffer(decode_shares_bytes(spec, rows_max)),
               quants = buffer(std::uint64_t{rows_max} * 2048),
               scales = buffer(std::uint64_t{rows_max} * 1024);
  DecodeAttentionSpec teams = spec;
  teams.by_teams = true;
  const auto pipelines = compile(
      {decode_attention_pipeline(spec, team_, 128), merge_shares_pipeline(spec),
       whole_attention_pipeline(spec, team_, 512), decode_attention_pipeline(teams, team_, 128)});
  for (const std::uint32_t rows : settings.rows) {
    std::vector<std::vector<Step>> steps(4);
    const auto add = [&](std::size_t i, std::string what, gpu::Workgroups workgroups,
                         const std::vector<gpu::BoundBuffer>& bound) {
      Step step{std::move(what), pipelines[i].get(), {}, workgroups};
      step.groups.push_back(device_.create_bind_group(*pipelines[i], 0, bound));
      steps[i].push_back(std::move(step));
    };
    const std::vector<gpu::BoundBuffer> bound{{0, qkv},  {1, place},  {2, turns}, {3, ones_},
                                              {4, keys}, {5, values}, {6, shares}};
    const DecodeAttentionSpec* ways[] = {&spec, nullptr, nullptr, &teams};
    bool warm = false;
    for (const std::size_t way : {std::size_t{0}, std::size_t{3}}) {
      const std::string what = way == 0 ? "attend" : "teams";
      for (const std::uint32_t y : {49u, 24u, 12u, 8u, 4u, 2u, 1u}) {
        if (!settings.sweep || (way == 3 && y == 49)) continue;
        steps[way].clear();
        add(way, what, {.x = kv_heads, .y = y, .z = rows}, bound);
        if (!std::exchange(warm, true)) warm_up(steps[way]);
        std::println("{:3} rows at {} {} by {:2} {:8.1f} us", rows, settings.positions, what, y,
                     best(steps[way]) * 1e6);
      }
      steps[way].clear();
      add(way, what, decode_attention_workgroups(*ways[way], team_, 128, rows, settings.positions),
          bound);
    }
    add(1, "merge", merge_shares_workgroups(spec, rows),
        {{0, shares}, {1, qkv}, {2, quants}, {3, scales}, {4, place}});
    add(2, "whole", whole_attention_workgroups(spec, rows),
        {{0, qkv},
         {1, place},
         {2, turns},
         {3, ones_},
         {4, keys},
         {5, values},
         {6, quants},
         {7, scales}});
    warm_up(steps[0]);
    for (const std::vector<Step>& kind : steps) {
      const double time = best(kind);
      std::println(
          "{:3} rows at {} {:7} {:8.1f} us, {:.2f} ms a step; {:.0f} GB/s of keys and values", rows,
          settings.positions, kind.front().what, time * 1e6, time * 16e3,
          rows * 2048.0 * settings.positions / time * 1e-9);
    }
  }
}

void Bench::draws(const Settings& settings) {
  auto made = gpu::run(
      instance_,
      GpuSampler::create(device_,
                         {.vocabulary = 128256, .rows = rows_max, .slots = rows_max, .steps = 4}));
  if (!made) {
    std::println("{}", made.error().message);
    return;
  }
  GpuSampler& sampler = **made;
  const Buffer tokens = buffer(std::uint64_t{rows_max} * 4);
  std::vector<std::uint32_t> places, slots;
  for (std::uint32_t i = 0; i < rows_max; ++i) places.insert(places.end(), {i, 5, 0, 0});
  const Buffer place = upload(places);
  const GpuSampler::Rows bound = sampler.bind(out_, tokens, place);
  for (const std::uint32_t rows : settings.rows) {
    slots.resize(rows);
    for (std::uint32_t i = 0; i < rows; ++i) slots[i] = i;
    double least = 1e9;
    for (int round = 0; round < 4; ++round) {
      gpu::Encoder encoder = device_.create_encoder();
      {
        gpu::Pass pass = encoder.begin_pass("draw", timer_.next("draw"));
        for (int i = 0; i < 8; ++i) (void)sampler.record(pass, bound, slots);
      }
      timer_.record(encoder);
      device_.submit(std::move(encoder));
      const auto measured = gpu::run(instance_, timer_.times());
      if (measured && !measured->empty()) least = std::min(least, measured->front().seconds() / 8);
    }
    std::println("{:3} rows drawn {:8.1f} us", rows, least * 1e6);
  }
}

int bench(std::span<const std::string_view> arguments) {
  const auto instance = gpu::native::create_instance();
  auto device = gpu::run(
      *instance, instance->create_device({.label = "decode_bench", .trusted_shaders = true}));
  if (!device) {
    std::println("{}", device.error().message);
    return 1;
  }
  std::println("{}", (*device)->adapter().device);
  Settings settings;
  for (const std::string_view argument : arguments) {
    const auto number = [&](std::string_view name, std::uint32_t& out) {
      if (!argument.starts_with(name)) return false;
      std::from_chars(argument.data() + name.size(), argument.data() + argument.size(), out);
      return true;
    };
    std::uint32_t rows = 0;
    if (number("rows=", rows) && rows > 0 && rows <= rows_max) settings.rows = {rows};
    (void)number("positions=", settings.positions);
  }
  settings.sweep = std::ranges::find(arguments, "sweep") != arguments.end();
  settings.probe = std::ranges::find(arguments, "probe") != arguments.end();
  if (settings.probe) settings.sweep = true;
  Bench one(*instance, **device);
  one.attention(settings);
  one.draws(settings);
  one.products(settings);
  for (const std::string& error : (*device)->uncaptured_errors()) std::println("{}", error);
  return 0;
}

}  // namespace
}  // namespace weft::kernels

int main(int count, char** values) {
  const std::vector<std::string_view> arguments(values + 1, values + count);
  return weft::kernels::bench(arguments);
}
