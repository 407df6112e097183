#include "engine/exec/wgsl_task.h"

#include <algorithm>

#include "common/base/format.h"
#include "engine/exec/bounds.h"
#include "engine/exec/recording.h"
#include "engine/exec/shader_error.h"
#include "engine/exec/wgsl_scan.h"

namespace weft::exec {

namespace {

using gpu::BufferUsage;
using manifest::Binding;
using manifest::Range;
using manifest::Role;

// The size of struct Weft { origin: vec3u, extent: vec3u } (see docs/manifest.md): each vec3u takes
// 16 bytes.
constexpr std::uint64_t weft_bytes = 32;
// The largest number of pieces in the queue. It is small so that the end of a task waits for few
// pieces.
constexpr std::size_t pieces_in_flight_max = 8;

std::vector<gpu::GroupLayout> layouts(const manifest::Manifest& manifest) {
  gpu::GroupLayout bindings;
  for (const Binding& binding : manifest.bindings) {
    const gpu::BindingKind kind = binding.role == Role::uniform ? gpu::BindingKind::uniform
                                  : binding.role == Role::input ? gpu::BindingKind::storage_read
                                                                : gpu::BindingKind::storage;
    bindings.push_back({.binding = binding.binding, .kind = kind});
  }
  return {std::move(bindings), {{.binding = 0, .kind = gpu::BindingKind::uniform}}};
}

// The bytes of binding `index` that one piece uses.
std::uint64_t piece_bytes(const manifest::Manifest& manifest, std::size_t index, Range piece) {
  const Binding& binding = manifest.bindings[index];
  if (!binding.is_output()) return binding.bytes();
  const auto first = manifest.bindings.begin();
  const auto output = std::count_if(first, first + static_cast<std::ptrdiff_t>(index),
                                    [](const Binding& b) { return b.is_output(); });
  return manifest::output_extent(manifest, static_cast<std::size_t>(output), piece).size;
}

// The workgroups of a step for a piece. A job without a split runs whole, so each of its steps has
// the dispatch size of the manifest.
std::array<std::uint32_t, 3> step_dispatch(const manifest::Manifest& manifest, std::size_t step,
                                           Range piece) {
  std::array<std::uint32_t, 3> dispatch = manifest.steps[step].dispatch;
  if (piece.count != manifest::axis_length(manifest))
    dispatch[static_cast<std::size_t>(manifest.split.axis)] = piece.count;
  return dispatch;
}

// The device resources of one run of a range, and the recording of its pieces.
class WgslRun {
 public:
  WgslRun(gpu::Device& device, const Job& job, const WgslPipelines& pipelines,
          std::vector<Range> pieces, const RunOptions& options)
      : device_(device),
        job_(job),
        pipelines_(pipelines),
        pieces_(std::move(pieces)),
        step_first_(options.step_first),
        step_count_(options.step_count == 0 ? job.manifest.steps.size() : options.step_count),
        state_(options.state) {}

  // Computes the weft uniform of every piece and step. Fails if an origin is unknown.
  Result<> make_weft_uniform();
  void make_buffers();
  // Records one piece and submits it.
  void submit_piece(std::size_t index);
  Async<Result<Output>> collect(Stopwatch watch);

  [[nodiscard]] std::size_t piece_count() const { return pieces_.size(); }

 private:
  [[nodiscard]] const manifest::Manifest& manifest() const { return job_.manifest; }
  void write_slice(std::size_t binding, Range piece);

  gpu::Device& device_;
  const Job& job_;
  const WgslPipelines& pipelines_;
  const std::vector<Range> pieces_;
  const std::size_t step_first_;
  const std::size_t step_count_;
  const std::shared_ptr<const std::vector<ByteVector>> state_;  // A run with a state has one piece.
  std::optional<TaskTimer> timer_;
  ByteVector weft_numbers_;
  std::uint64_t weft_stride_ = 0;
  gpu::Buffer weft_;
  // One buffer for each binding, in the size of the longest piece.
  std::vector<gpu::Buffer> buffers_;
  std::vector<Readback> readbacks_;  // One readback for each output.
};

Result<> WgslRun::make_weft_uniform() {
  weft_stride_ = round_up(weft_bytes, device_.limits().uniform_offset_alignment);
  const auto axis = static_cast<std::size_t>(manifest().split.axis);
  for (const Range& piece : pieces_) {
    for (std::size_t step = step_first_; step < step_first_ + step_count_; ++step) {
      std::array<std::uint32_t, 3> origin{};
      const std::array<std::uint32_t, 3> extent = step_dispatch(manifest(), step, piece);
      if (piece.first > 0) {
        const auto& size = pipelines_.workgroup_sizes[pipelines_.pipeline_of_step[step]];
        if (!size) return std::unexpected(size.error());
        const std::uint64_t first = std::uint64_t{piece.first} * (*size)[axis];
        if (first + std::uint64_t{piece.count} * (*size)[axis] > std::uint64_t{1} << 32U) {
          return fail(ErrorCode::invalid_argument,
                      "The job has more than 2^32 invocations along the split axis.");
        }
        origin[axis] = static_cast<std::uint32_t>(first);
      }
      const std::size_t end = weft_numbers_.size() + weft_stride_;
      for (const auto& numbers : {origin, extent}) {
        for (const std::uint32_t number : numbers) append_le(weft_numbers_, number);
        append_le(weft_numbers_, std::uint32_t{0});
      }
      weft_numbers_.resize(end);
    }
  }
  return {};
}

void WgslRun::make_buffers() {
  timer_.emplace(device_, pieces_.size());
  weft_ = device_.create_buffer({.size = weft_numbers_.size(),
                                 .usage = BufferUsage::uniform | BufferUsage::copy_destination,
                                 .label = "weft"});
  device_.write(weft_, 0, weft_numbers_);
  for (std::size_t i = 0; i < manifest().bindings.size(); ++i) {
    const Binding& binding = manifest().bindings[i];
    // No piece is longer than the first piece.
    const std::uint64_t bytes = piece_bytes(manifest(), i, pieces_.front());
    BufferUsage usage =
        (binding.role == Role::uniform ? BufferUsage::uniform : BufferUsage::storage) |
        BufferUsage::copy_destination;
    if (binding.is_output()) usage = usage | BufferUsage::copy_source;
    const std::string label = weft::format("binding {}", binding.binding);
    // The size of a uniform struct in WGSL is a multiple of 16 bytes, but a manifest may state
    // fewer.
    const std::uint64_t size =
        binding.role == Role::uniform ? round_up(bytes, 16) : round_up(bytes, 4);
    buffers_.push_back(device_.create_buffer({.size = size, .usage = usage, .label = label}));
    if (binding.is_output()) {
      readbacks_.emplace_back(device_, bytes, pieces_.size());
    } else {
      write_padded(device_, buffers_.back(), 0, job_.data[i]);
    }
  }
}

// Writes the initial data of an inout binding for one piece.
void WgslRun::write_slice(std::size_t binding, Range piece) {
  const Binding& described = manifest().bindings[binding];
  ByteSpan data = job_.data[binding];
  if (described.split_dim) {
    const std::uint64_t size = piece_bytes(manifest(), binding, piece);
    data = data.subspan(described.bytes() / manifest::axis_length(manifest()) * piece.first, size);
  }
  write_padded(device_, buffers_[binding], 0, data);
}

void WgslRun::submit_piece(std::size_t index) {
  const Range piece = pieces_[index];
  gpu::Encoder encoder = device_.create_encoder("task");
  std::vector<gpu::BoundBuffer> bound;
  std::size_t outputs = 0;
  for (std::size_t i = 0; i < manifest().bindings.size(); ++i) {
    const Binding& binding = manifest().bindings[i];
    const std::uint64_t bytes = piece_bytes(manifest(), i, piece);
    // An output is bound with the length of this piece, so that arrayLength() gives the length of
    // the piece.
    bound.push_back({.binding = binding.binding,
                     .buffer = buffers_[i],
                     .offset = 0,
                     .size = binding.is_output() ? round_up(bytes, 4) : 0});
    if (!binding.is_output()) continue;
    const std::size_t number = outputs++;
    if (state_ != nullptr) {
      write_padded(device_, buffers_[i], 0, (*state_)[number]);
    } else if (!job_.data[i].empty()) {
      write_slice(i, piece);
    } else if (index > 0) {
      // The first piece needs no clear: a new buffer is already zero.
      encoder.clear(buffers_[i], 0, buffers_[i].size());
    }
  }
  const gpu::BindGroup group = device_.create_bind_group(pipelines_.pipelines.front(), 0, bound);
  {
    gpu::Pass pass = encoder.begin_pass("task", timer_->next_pass());
    for (std::size_t step = step_first_; step < step_first_ + step_count_; ++step) {
      const gpu::Pipeline& pipeline = pipelines_.pipelines[pipelines_.pipeline_of_step[step]];
      const std::uint64_t offset = weft_stride_ * (index * step_count_ + step - step_first_);
      const gpu::BindGroup weft = device_.create_bind_group(pipelines_.pipelines.front(), 1,
                                                            {{0, weft_, offset, weft_bytes}});
      const auto dispatch = step_dispatch(manifest(), step, piece);
      pass.run(pipeline, {&group, &weft}, {.x = dispatch[0], .y = dispatch[1], .z = dispatch[2]});
    }
  }
  std::size_t output = 0;
  for (std::size_t i = 0; i < manifest().bindings.size(); ++i) {
    if (!manifest().bindings[i].is_output()) continue;
    readbacks_[output++].copy(encoder, buffers_[i], piece_bytes(manifest(), i, piece));
  }
  if (index + 1 == pieces_.size()) timer_->record(encoder);
  device_.submit(std::move(encoder));
}

Async<Result<Output>> WgslRun::collect(Stopwatch watch) {
  Output output;
  for (Readback& readback : readbacks_) {
    WEFT_CO_ASSIGN(ByteVector bytes, co_await readback.join());
    output.outputs.push_back(std::move(bytes));
  }
  output.wall_seconds = watch.seconds();
  WEFT_CO_ASSIGN(output.gpu_seconds, co_await timer_->seconds());
  // Uses the wall time if the device has no timestamps or they are too coarse for the task.
  if (output.gpu_seconds == 0) output.gpu_seconds = output.wall_seconds;
  output.dispatches = static_cast<std::uint32_t>(pieces_.size() * step_count_);
  co_return output;
}

}  // namespace

std::string pipelines_key(const Job& job, const std::map<std::string, double>& tuned) {
  std::string key;
  for (const manifest::Step& step : job.manifest.steps) key += step.entry + '\n';
  for (const Binding& binding : job.manifest.bindings)
    key += weft::format("{} {}\n", binding.binding, manifest::to_string(binding.role));
  for (const auto* constants : {&job.manifest.constants, &tuned}) {
    for (const auto& [name, value] : *constants) key += weft::format("{}={:a}\n", name, value);
  }
  // An unknown workgroup size is an error only for a job of several tasks, so the key must tell the
  // two kinds of jobs apart.
  return key + (job.manifest.split.tasks > 1 ? "split\n" : "\n") + job.shader;
}

Async<Result<std::shared_ptr<const WgslPipelines>>> compile_wgsl(
    gpu::Device& device, std::shared_ptr<const Job> job, std::map<std::string, double> tuned) {
  const manifest::Manifest& manifest = job->manifest;
  const WgslScan scan(job->shader);
  std::map<std::string, double> constants = manifest.constants;
  constants.insert(tuned.begin(), tuned.end());

  const auto made = std::make_shared<WgslPipelines>();
  std::vector<std::string> entries;
  for (const manifest::Step& step : manifest.steps) {
    const auto known = std::ranges::find(entries, step.entry);
    made->pipeline_of_step.push_back(static_cast<std::size_t>(known - entries.begin()));
    if (known != entries.end()) continue;
    entries.push_back(step.entry);
    auto pipeline = co_await device.create_pipeline({.wgsl = job->shader,
                                                     .entry = step.entry,
                                                     .label = manifest.name,
                                                     .groups = layouts(manifest),
                                                     .constants = constants});
    if (!pipeline) {
      // The compiler's own messages begin with LINE:COLUMN, which shader_error() keeps.
      co_return pass(
          Result<>(std::unexpected(shader_error(std::move(pipeline).error(), scan, step.entry))),
          "while compiling the shader's entry point \"{}\"", step.entry);
    }
    made->pipelines.push_back(std::move(*pipeline));
    made->workgroup_sizes.push_back(scan.workgroup_size(step.entry, constants));
  }
  // This check comes after compilation, because the compiler's messages say more about a mistake.
  for (const auto& [name, values] : manifest.tune) {
    if (!scan.has_override(name))
      co_return fail(ErrorCode::invalid_argument,
                     "The job tunes \"{}\", but its shader has no such override.", name);
  }
  if (manifest.split.tasks > 1) {
    for (const auto& size : made->workgroup_sizes) {
      if (!size)
        co_return fail(ErrorCode::invalid_argument,
                       "{} A job in several tasks needs it to tell each task's origin.",
                       size.error().message);
    }
  }
  co_return std::shared_ptr<const WgslPipelines>(made);
}

Async<Result<Output>> run_wgsl(gpu::Device& device, std::shared_ptr<const Job> job,
                               std::shared_ptr<const WgslPipelines> pipelines, RunOptions options) {
  const Stopwatch watch;
  WgslRun run(device, *job, *pipelines,
              manifest::pieces(job->manifest, options.range,
                               piece_workgroups(*job, device, options.piece_workgroups_max)),
              options);
  WEFT_CO_OK(run.make_weft_uniform());
  // The caught errors are awaited only when the run waits anyway, so that a task of one piece costs
  // one extra round trip and not three.
  std::vector<ErrorScopes::Caught> caught;
  {
    ErrorScopes scopes(device);
    run.make_buffers();
    caught.push_back(scopes.end());
  }
  for (std::size_t piece = 0; piece < run.piece_count(); ++piece) {
    {
      ErrorScopes scopes(device);
      run.submit_piece(piece);
      caught.push_back(scopes.end());
    }
    const bool last = piece + 1 == run.piece_count();
    if (!last && caught.size() < pieces_in_flight_max) continue;
    for (ErrorScopes::Caught& errors : caught) {
      if (auto result = co_await errors.result(); !result)
        co_return std::unexpected(shader_error(std::move(result).error(), WgslScan(job->shader),
                                               job->manifest.steps.front().entry));
    }
    caught.clear();
    if (!last) WEFT_CO_OK(co_await device.idle());
  }
  co_return co_await run.collect(watch);
}

}  // namespace weft::exec
