#include "apps/coordinator/ingest/submission_notes.h"

#include "common/base/format.h"
#include "common/manifest/split.h"
#include "decisions/jobs/state_room.h"
#include "decisions/jobs/verdict_text.h"

namespace weft::coordinator {

namespace {

// The bytes that a whole job writes for each of its workgroups, counting the workgroups of all
// steps.
std::uint64_t output_bytes_per_workgroup(const manifest::Manifest& manifest) {
  std::uint64_t bytes = 0, workgroups = 0;
  for (const std::uint64_t output : manifest.output_bytes()) bytes += output;
  for (const manifest::Step& step : manifest.steps)
    workgroups += std::uint64_t{step.dispatch[0]} * step.dispatch[1] * step.dispatch[2];
  return workgroups == 0 ? bytes : bytes / workgroups;
}

}  // namespace

std::vector<std::string> submission_notes(const manifest::Manifest& manifest,
                                          const Checking& checking) {
  constexpr std::uint32_t parts_wanted = 32;  // The most parts into which a task is cut.
  std::vector<std::string> notes;
  if (manifest.verify.anyone) {
    notes.emplace_back(
        "Whatever the job's workers agree on is accepted, even if they are all new: the manifest "
        "says \"trust\": \"anyone\".");
    return notes;
  }
  if (jobs::checked_by_mathematics(manifest)) {
    notes.emplace_back("The coordinator checks all results of the job itself, by mathematics.");
    return notes;
  }
  const auto parts = manifest::task_range(manifest, manifest.split.tasks - 1).count;
  if (jobs::checked_groups(manifest).all > 1)
    notes.emplace_back(
        "The job's tasks cannot be cut into parts (an output has no split_dim): a check of a new "
        "worker's first results computes a whole task again, later checks compute some of its "
        "steps.");
  else if (!manifest::can_cut(manifest))
    notes.emplace_back(
        "The job's tasks cannot be cut into parts (an output has no split_dim): a check computes a "
        "whole task again, which takes as long as the task.");
  else if (parts < parts_wanted)
    notes.push_back(
        weft::format("A task cuts into {} {}, so that a check computes a large share of it again: "
                     "tasks of {} {} "
                     "are checked best (fewer tasks).",
                     parts, parts == 1 ? "part" : "parts", parts_wanted,
                     manifest.kind == manifest::Kind::onnx
                         ? "items or more"
                         : "workgroups or more along the axis in which the job is cut"));
  // Outputs of a few bytes for each workgroup suggest a search that finds nothing in most places.
  constexpr std::uint64_t finding_bytes = 16;
  if (manifest.kind == manifest::Kind::wgsl && output_bytes_per_workgroup(manifest) < finding_bytes)
    notes.push_back(weft::format(
        "The job's shader writes {} bytes for a workgroup. If most of its results say that nothing "
        "was found, as in a search, checks of parts cannot tell them from work that was not done: "
        "let the shader also write a digest of all that it computed.",
        output_bytes_per_workgroup(manifest)));
  if (checking.cost_permille > 0)
    notes.push_back(
        weft::format("Checking is part of the price: {:.1f} % of what the job's workers are paid "
                     "goes to the account from which checks are paid.",
                     static_cast<double>(checking.cost_permille) / 10));
  if (!checking.verifier && checking.known == 0)
    notes.emplace_back(
        "The job's results cannot be checked now: this coordinator has no verifier of its own, and "
        "no invited or established worker is connected. Results of new workers wait until such a "
        "worker joins.");
  return notes;
}

}  // namespace weft::coordinator
