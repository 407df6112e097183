#include "engine/llm/gpu/program.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"

namespace weft::llm {

Async<Result<>> DispatchMaker::make(gpu::PipelineOptions pipeline,
                                    const std::vector<Bindings>& groups, Dispatch& dispatch) {
  WEFT_CO_ASSIGN(auto made, co_await pipelines_.get(std::move(pipeline)));
  dispatch.groups.clear();
  dispatch.group_pointers.clear();
  for (std::uint32_t i = 0; i < groups.size(); ++i)
    dispatch.groups.push_back(device_.create_bind_group(*made, i, groups[i]));
  for (const gpu::BindGroup& group : dispatch.groups) dispatch.group_pointers.push_back(&group);
  dispatch.pipeline = std::move(made);
  co_return Result<>();
}

void Program::add(Dispatch dispatch) {
  auto kept = std::make_unique<Dispatch>(std::move(dispatch));
  kept->group_pointers.clear();
  for (const gpu::BindGroup& group : kept->groups) kept->group_pointers.push_back(&group);
  dispatches_.push_back(std::move(kept));
}

void Program::add(Dispatch dispatch, gpu::PipelineOptions pipeline, std::vector<Bindings> groups) {
  add(std::move(dispatch));
  unmade_.push_back({.dispatch = dispatches_.back().get(),
                     .pipeline = std::move(pipeline),
                     .groups = std::move(groups)});
}

bool Program::suits(const Dispatch& dispatch, const RowCount& count, std::uint32_t further) {
  return count.rows >= dispatch.rows_min && count.rows <= dispatch.rows_max &&
         count.segments >= dispatch.segments_min && count.segments <= dispatch.segments_max &&
         count.positions + further >= dispatch.positions_min &&
         count.positions_least <= dispatch.least_max;
}

Async<Result<>> Program::prepare(DispatchMaker& maker, RowCount count, std::uint32_t further) {
  for (std::size_t i = 0; i < unmade_.size();) {
    Unmade& unmade = unmade_[i];
    if (unmade.dispatch->pipeline != nullptr) {
      std::swap(unmade, unmade_.back());
      unmade_.pop_back();
      continue;
    }
    if (!suits(*unmade.dispatch, count, further)) {
      ++i;
      continue;
    }
    // Copies are used, because another call may move this element while the dispatch is being made.
    Dispatch made;
    Dispatch* const dispatch = unmade.dispatch;
    const std::vector<Bindings> groups = unmade.groups;
    WEFT_CO_OK(co_await maker.make(unmade.pipeline, groups, made));
    dispatch->groups = std::move(made.groups);
    dispatch->group_pointers = std::move(made.group_pointers);
    dispatch->pipeline = std::move(made.pipeline);
  }
  co_return Result<>();
}

std::uint32_t Program::record(gpu::Pass& pass, const RowCount& count) const {
  std::size_t next = 0;
  return record_piece(pass, count, next, std::numeric_limits<std::uint32_t>::max());
}

std::uint32_t Program::record_piece(gpu::Pass& pass, const RowCount& count, std::size_t& next,
                                    std::uint32_t most) const {
  std::uint32_t recorded = 0;
  for (; next < dispatches_.size() && recorded < most; ++next) {
    const Dispatch& dispatch = *dispatches_[next];
    if (!suits(dispatch, count)) continue;
    check(dispatch.pipeline != nullptr, "prepare() made what a pass records");
    pass.run(*dispatch.pipeline, dispatch.group_pointers, dispatch.workgroups(count));
    ++recorded;
  }
  return recorded;
}

Async<Result<>> ProgramBuilder::add(Program& program, gpu::PipelineOptions pipeline,
                                    std::vector<Bindings> groups, Dispatch dispatch) {
  if (later_) {
    program.add(std::move(dispatch), std::move(pipeline), std::move(groups));
    co_return Result<>();
  }
  WEFT_CO_OK(co_await maker_.make(std::move(pipeline), groups, dispatch));
  program.add(std::move(dispatch));
  co_return Result<>();
}

}  // namespace weft::llm
