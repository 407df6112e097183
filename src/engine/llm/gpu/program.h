// Dispatches in order, made once and recorded for every pass of rows through them; nothing is
// allocated while recording. A software GPU takes up to seconds to compile a pipeline, and a model
// has pipelines for many numbers of rows: there each is compiled before the first pass that needs
// it (prepare()). Elsewhere all are compiled while the model is loaded.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "engine/gpu/device.h"
#include "engine/gpu/pipeline_cache.h"

namespace weft::llm {

// The rows of a pass (engine/kernels/batch.h).
struct RowCount {
  std::uint32_t rows = 0;
  std::uint32_t segments = 0;
  std::uint32_t positions = 0;  // That the furthest of them sees, itself included, where each is
                                // the newest of its sequence.
  std::uint32_t positions_least = 0;  // The same of the nearest.
};

// What goes to the bindings of one group. The buffers live as long as the program.
using Bindings = std::vector<gpu::BoundBuffer>;

struct Dispatch {
  // For passes of so many rows, segments and positions; others leave it out.
  std::uint32_t rows_min = 0;
  std::uint32_t rows_max = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t segments_min = 0;
  std::uint32_t segments_max = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t positions_min = 0;
  std::uint32_t least_max = std::numeric_limits<std::uint32_t>::max();  // Bound of positions_least.
  std::function<gpu::Workgroups(const RowCount& count)> workgroups{};

  std::shared_ptr<const gpu::Pipeline> pipeline{};
  std::vector<gpu::BindGroup> groups{};
  std::vector<const gpu::BindGroup*> group_pointers{};  // Into `groups`.
};

// Makes the pipelines and bind groups of dispatches.
class DispatchMaker {
 public:
  DispatchMaker(gpu::Device& device, gpu::PipelineCache& pipelines)
      : device_(device), pipelines_(pipelines) {}
  // Fails as Device::create_pipeline does.
  [[nodiscard]] Async<Result<>> make(gpu::PipelineOptions pipeline,
                                     const std::vector<Bindings>& groups, Dispatch& dispatch);
  [[nodiscard]] gpu::Device& device() { return device_; }

 private:
  gpu::Device& device_;
  gpu::PipelineCache& pipelines_;
};

class Program {
 public:
  // A dispatch that is made.
  void add(Dispatch dispatch);
  // One that prepare() makes. groups[i] goes to @group(i) of the pipeline.
  void add(Dispatch dispatch, gpu::PipelineOptions pipeline, std::vector<Bindings> groups);
  // Makes what a pass of `count` records, and each of `further` passes that see one more position
  // each. Fails as Device::create_pipeline does; the next call tries again.
  [[nodiscard]] Async<Result<>> prepare(DispatchMaker& maker, RowCount count,
                                        std::uint32_t further = 0);
  // Whether every dispatch is made.
  [[nodiscard]] bool is_whole() const { return unmade_.empty(); }
  // How many dispatches it recorded.
  std::uint32_t record(gpu::Pass& pass, const RowCount& count) const;
  // The same in pieces: at most so many from dispatch `next` on, which goes on to the first of the
  // next piece; size() at the end.
  std::uint32_t record_piece(gpu::Pass& pass, const RowCount& count, std::size_t& next,
                             std::uint32_t most) const;
  [[nodiscard]] std::size_t size() const { return dispatches_.size(); }

 private:
  struct Unmade {
    Dispatch* dispatch;  // In dispatches_.
    gpu::PipelineOptions pipeline;
    std::vector<Bindings> groups;
  };
  [[nodiscard]] static bool suits(const Dispatch& dispatch, const RowCount& count,
                                  std::uint32_t further = 0);
  std::vector<std::unique_ptr<Dispatch>> dispatches_;
  std::vector<Unmade> unmade_;
};

// Adds dispatches to a program.
class ProgramBuilder {
 public:
  // `later`: Program::prepare() compiles them, before the first pass that needs them.
  ProgramBuilder(DispatchMaker& maker, bool later) : maker_(maker), later_(later) {}

  // groups[i] goes to @group(i) of the pipeline. `dispatch` says when and how many workgroups.
  [[nodiscard]] Async<Result<>> add(Program& program, gpu::PipelineOptions pipeline,
                                    std::vector<Bindings> groups, Dispatch dispatch);
  [[nodiscard]] gpu::Device& device() { return maker_.device(); }

 private:
  DispatchMaker& maker_;
  const bool later_;
};

}  // namespace weft::llm
