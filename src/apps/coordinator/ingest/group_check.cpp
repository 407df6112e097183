#include "apps/coordinator/ingest/group_check.h"

#include <utility>

#include "common/base/format.h"
#include "common/proof/merkle.h"
#include "common/proof/task_state.h"

namespace weft::coordinator {

Result<jobs::Checked> GroupCheck::check(const jobs::VerifyOrder& order, VerifiedJobs::Known& job) {
  const auto whole = manifest::task_range(*order.manifest, order.task.index);
  jobs::Checked checked{.outcome = trust::AuditOutcome::agrees, .of_steps = true};
  for (const jobs::VerifyOrder::Group& group : order.groups) {
    // The state as a blob, the outputs in it, and the outputs that are computed from them.
    constexpr std::uint64_t copies = 3;
    const std::uint64_t bytes = group.state ? group.state->bytes : 0;
    WEFT_ASSIGN(const VerifiedJobs::Beside held, jobs_.beside_latest(copies * bytes));
    State state;
    if (group.state) {
      WEFT_ASSIGN(state, state_before(order, group));
      if (!state)
        return jobs::Checked{
            .outcome = trust::AuditOutcome::failed,
            .reason = weft::format(
                "The state before step {} that the worker sent does not have the root to which it "
                "is committed.",
                group.first),
            .unanswered = true,
            .of_steps = true};
    }
    const PartRun part{
        .range = whole, .step_first = group.first, .step_count = group.count, .state = state};
    WEFT_ASSIGN(const auto ran, runs_.run_part(job, part));
    checked.vendor = runs_.vendor();
    checked.reason += weft::format("{}{} to {}", checked.reason.empty() ? "Computed steps " : ", ",
                                   group.first, group.first + group.count - 1);
    if (proof::task_root(ran.outputs) == group.after) continue;
    SecondLook::Opinion opinion =
        look_.at(job, {.part = part,
                       .computed = ran.outputs,
                       .is_handed_in =
                           [&](const std::vector<ByteVector>& outputs) {
                             return proof::task_root(outputs) == group.after;
                           },
                       .waits_for_second = order.waits_for_second});
    if (opinion.unsteady) {
      if (!state) return unsteady(std::move(opinion.reason));
      // The worker chose the state, and devices may differ from this state although they agree on
      // all states of the job. The result is refused, and no job ends because of it.
      opinion = {.devices = trust::Devices::divided, .reason = {}};
    }
    if (opinion.late)
      return std::unexpected(Error{ErrorCode::deadline_exceeded, std::move(opinion.reason)});
    checked.devices = opinion.devices;
    checked.outcome = trust::AuditOutcome::differs;
    checked.wrong = whole;  // A step of the task is wrong; its bytes may be right.
    checked.reason = weft::format(
        "Steps {} to {}, computed from the worker's own state before them, "
        "do not lead to the state that the worker named.",
        group.first, group.first + group.count - 1);
    return checked;
  }
  checked.reason += ", from the worker's own states before them.";
  return checked;
}

Result<GroupCheck::State> GroupCheck::state_before(const jobs::VerifyOrder& order,
                                                   const jobs::VerifyOrder::Group& group) const {
  auto blob = blobs_.read(group.state->hash);
  if (!blob)
    return fail(ErrorCode::deadline_exceeded, "The state before step {} is not stored any more: {}",
                group.first, blob.error().message);
  const auto read = proof::decode_state(*blob);
  if (!read) return State();
  const auto whole = manifest::task_range(*order.manifest, order.task.index);
  if (read->outputs.size() != order.outputs.size()) return State();
  std::vector<ByteVector> outputs;
  for (std::size_t i = 0; i < read->outputs.size(); ++i) {
    const ByteSpan output = read->outputs[i];
    if (output.size() != manifest::output_extent(*order.manifest, i, whole).size) return State();
    outputs.emplace_back(output.begin(), output.end());
  }
  if (proof::task_root(outputs) != group.before) return State();
  return std::make_shared<const std::vector<ByteVector>>(std::move(outputs));
}

}  // namespace weft::coordinator
