#include "engine/llm/gpu/program.h"

namespace weft::llm {

void Program::add(Dispatch dispatch) {
  auto kept = std::make_unique<Dispatch>(std::move(dispatch));
  for (const gpu::BindGroup& group : kept->groups) kept->group_pointers.push_back(&group);
  dispatches_.push_back(std::move(kept));
}

bool Program::suits(const Dispatch& dispatch, const RowCount& count) {
  return count.rows >= dispatch.rows_min && count.rows <= dispatch.rows_max &&
         count.segments >= dispatch.segments_min && count.segments <= dispatch.segments_max &&
         count.positions >= dispatch.positions_min && count.positions_least <= dispatch.least_max;
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
    pass.run(*dispatch.pipeline, dispatch.group_pointers, dispatch.workgroups(count));
    ++recorded;
  }
  return recorded;
}

Async<Result<>> ProgramBuilder::add(Program& program, gpu::PipelineOptions pipeline,
                                    std::vector<Bindings> groups, Dispatch dispatch) {
  WEFT_CO_ASSIGN(dispatch.pipeline, co_await pipelines_.get(std::move(pipeline)));
  for (std::uint32_t i = 0; i < groups.size(); ++i)
    dispatch.groups.push_back(device_.create_bind_group(*dispatch.pipeline, i, groups[i]));
  program.add(std::move(dispatch));
  co_return Result<>();
}

}  // namespace weft::llm
