#include "apps/coordinator/ingest/submission_notes.h"

#include "common/base/format.h"
#include "common/manifest/split.h"
#include "decisions/jobs/verdict_text.h"

namespace weft::coordinator {

std::vector<std::string> submission_notes(const manifest::Manifest& manifest,
                                          const Checking& checking) {
  constexpr std::uint32_t parts_wanted = 32;  // As many as a task is cut into at most.
  std::vector<std::string> notes;
  if (manifest.verify.anyone) {
    notes.emplace_back(
        "Whatever its workers agree on is accepted, new workers among them: the manifest says "
        "\"trust\": \"anyone\".");
    return notes;
  }
  if (jobs::checked_by_mathematics(manifest)) {
    notes.emplace_back("The coordinator checks all of its results itself, by mathematics.");
    return notes;
  }
  const auto parts = manifest::task_range(manifest, manifest.split.tasks - 1).count;
  if (!manifest::can_cut(manifest))
    notes.emplace_back(
        "Its tasks cannot be cut into parts (an output has no split_dim): a check computes a whole "
        "task again, which takes as long as the task.");
  else if (parts < parts_wanted)
    notes.push_back(weft::format(
        "A task cuts into {} {}, so that a check computes a large share of it again: tasks of {} "
        "workgroups or more along the axis in which the job is cut are checked best (fewer tasks).",
        parts, parts == 1 ? "part" : "parts", parts_wanted));
  if (checking.cost_permille > 0)
    notes.push_back(weft::format(
        "Checking is part of the price: {:.1f} % of what its workers are paid goes to the account "
        "that checks are paid from.",
        static_cast<double>(checking.cost_permille) / 10));
  if (!checking.verifier && checking.known == 0)
    notes.emplace_back(
        "Nothing can check its results now: this coordinator has no verifier of its own, and no "
        "invited or established worker is connected. Results of new workers wait until one joins.");
  return notes;
}

}  // namespace weft::coordinator
