// Dispatches in order, made once and recorded for every pass of rows; recording allocates no
// memory. A software GPU takes up to seconds to compile a pipeline, and a model has pipelines for
// many numbers of rows. Such a device therefore compiles each pipeline before the first pass that
// needs it (prepare()). Other GPUs compile all pipelines while the model is loaded.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "engine/gpu/device.h"
#include "engine/gpu/pipeline_cache.h"

namespace weft::llm {

// The shape of a pass of rows (engine/kernels/batch.h).
struct RowCount {
  std::uint32_t rows = 0;
  std::uint32_t segments = 0;
  // The most positions that the newest row of a sequence sees, itself included.
  std::uint32_t positions = 0;
  // The fewest positions that the newest row of a sequence sees.
  std::uint32_t positions_least = 0;
};

// The buffers that are bound to one group. They live as long as the program.
using Bindings = std::vector<gpu::BoundBuffer>;

struct Dispatch {
  // The dispatch runs in passes whose rows, segments and positions are within these bounds.
  std::uint32_t rows_min = 0;
  std::uint32_t rows_max = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t segments_min = 0;
  std::uint32_t segments_max = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t positions_min = 0;
  // The most that positions_least may be.
  std::uint32_t least_max = std::numeric_limits<std::uint32_t>::max();
  std::function<gpu::Workgroups(const RowCount& count)> workgroups{};

  std::shared_ptr<const gpu::Pipeline> pipeline{};
  std::vector<gpu::BindGroup> groups{};
  std::vector<const gpu::BindGroup*> group_pointers{};  // Pointers to the elements of `groups`.
};

// Makes the pipelines and bind groups of dispatches.
class DispatchMaker {
 public:
  DispatchMaker(gpu::Device& device, gpu::PipelineCache& pipelines)
      : device_(device), pipelines_(pipelines) {}
  // Makes the pipeline and the bind groups of `dispatch`. Fails as Device::create_pipeline() does.
  [[nodiscard]] Async<Result<>> make(gpu::PipelineOptions pipeline,
                                     const std::vector<Bindings>& groups, Dispatch& dispatch);
  [[nodiscard]] gpu::Device& device() { return device_; }

 private:
  gpu::Device& device_;
  gpu::PipelineCache& pipelines_;
};

class Program {
 public:
  // Adds a dispatch that is made.
  void add(Dispatch dispatch);
  // Adds a dispatch that prepare() will make. groups[i] is bound to @group(i) of the pipeline.
  void add(Dispatch dispatch, gpu::PipelineOptions pipeline, std::vector<Bindings> groups);
  // Makes the dispatches that a pass of `count` records, and those of `further` passes that see one
  // more position each. Fails as Device::create_pipeline() does; the next call tries again.
  [[nodiscard]] Async<Result<>> prepare(DispatchMaker& maker, RowCount count,
                                        std::uint32_t further = 0);
  // True if every dispatch is made.
  [[nodiscard]] bool is_whole() const { return unmade_.empty(); }
  // Records the dispatches of a pass of this shape and returns their number.
  std::uint32_t record(gpu::Pass& pass, const RowCount& count) const;
  // Records at most `most` dispatches of a pass, beginning with the dispatch of index `next`. Sets
  // `next` to the index of the first dispatch that is left, or to size() at the end. Returns the
  // number of recorded dispatches.
  std::uint32_t record_piece(gpu::Pass& pass, const RowCount& count, std::size_t& next,
                             std::uint32_t most) const;
  [[nodiscard]] std::size_t size() const { return dispatches_.size(); }

 private:
  struct Unmade {
    Dispatch* dispatch;  // Points to an element of dispatches_.
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
  // If `later` is true, Program::prepare() compiles the dispatches, before the first pass that
  // needs them.
  ProgramBuilder(DispatchMaker& maker, bool later) : maker_(maker), later_(later) {}

  // Adds a dispatch to the program. groups[i] is bound to @group(i) of the pipeline. `dispatch` has
  // the passes that record it and its number of workgroups.
  [[nodiscard]] Async<Result<>> add(Program& program, gpu::PipelineOptions pipeline,
                                    std::vector<Bindings> groups, Dispatch dispatch);
  [[nodiscard]] gpu::Device& device() { return maker_.device(); }

 private:
  DispatchMaker& maker_;
  const bool later_;
};

}  // namespace weft::llm
