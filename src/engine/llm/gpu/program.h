// Dispatches in order, made once and recorded for every pass of rows through them; nothing is
// allocated while recording.
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

struct Dispatch {
  // For passes of so many rows, segments and positions; others leave it out.
  std::uint32_t rows_min = 0;
  std::uint32_t rows_max = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t segments_min = 0;
  std::uint32_t segments_max = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t positions_min = 0;
  std::uint32_t least_max = std::numeric_limits<std::uint32_t>::max();  // Bound of positions_least.
  std::function<gpu::Workgroups(const RowCount& count)> workgroups;

  std::shared_ptr<const gpu::Pipeline> pipeline{};
  std::vector<gpu::BindGroup> groups{};
  std::vector<const gpu::BindGroup*> group_pointers{};  // Into `groups`.
};

class Program {
 public:
  void add(Dispatch dispatch);
  // How many dispatches it recorded.
  std::uint32_t record(gpu::Pass& pass, const RowCount& count) const;
  // The same in pieces: at most so many from dispatch `next` on, which goes on to the first of the
  // next piece; size() at the end.
  std::uint32_t record_piece(gpu::Pass& pass, const RowCount& count, std::size_t& next,
                             std::uint32_t most) const;
  [[nodiscard]] std::size_t size() const { return dispatches_.size(); }

 private:
  [[nodiscard]] static bool suits(const Dispatch& dispatch, const RowCount& count);
  std::vector<std::unique_ptr<const Dispatch>> dispatches_;
};

// What goes to the bindings of one group.
using Bindings = std::vector<gpu::BoundBuffer>;

// Adds dispatches to a program.
class ProgramBuilder {
 public:
  ProgramBuilder(gpu::Device& device, gpu::PipelineCache& pipelines)
      : device_(device), pipelines_(pipelines) {}

  // groups[i] goes to @group(i) of the pipeline. `dispatch` says when and how many workgroups.
  [[nodiscard]] Async<Result<>> add(Program& program, gpu::PipelineOptions pipeline,
                                    std::vector<Bindings> groups, Dispatch dispatch);
  [[nodiscard]] gpu::Device& device() { return device_; }

 private:
  gpu::Device& device_;
  gpu::PipelineCache& pipelines_;
};

}  // namespace weft::llm
