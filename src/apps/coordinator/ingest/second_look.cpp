#include "apps/coordinator/ingest/second_look.h"

#include <algorithm>

#include "common/base/log.h"

namespace weft::coordinator {
namespace {

constexpr std::string_view differs_by_device =
    "The verifier's two devices compute different values for the same part, and a result has those "
    "of the second device.";

// The part with its neighbours: on each side at most as many workgroups as the part has, and at
// most `count_max` workgroups in all.
manifest::Range around(const manifest::Manifest& manifest, manifest::Range part,
                       std::uint32_t count_max) {
  if (!manifest::can_cut(manifest) || count_max <= part.count) return part;
  const std::uint32_t more = std::min(part.count, count_max - part.count);
  const std::uint32_t before = std::min(part.first, more);
  const std::uint32_t after = std::min(manifest::axis_length(manifest) - part.first - part.count,
                                       count_max - part.count - before);
  return {.first = part.first - before, .count = before + part.count + std::min(after, part.count)};
}

}  // namespace

jobs::Checked unsteady(std::string reason) {
  return {.outcome = trust::AuditOutcome::failed, .reason = std::move(reason), .unsteady = true};
}

SecondLook::Opinion SecondLook::at(const jobs::VerifyOrder& order, VerifiedJobs::Known& job,
                                   manifest::Range part, const std::vector<ByteVector>& computed) {
  std::vector<const std::vector<store::OutputBlob>*> results{&order.outputs};
  for (const auto& rival : order.rivals) results.push_back(&rival);
  const PartRun run{.range = part};
  return at(job, {.part = run,
                  .computed = computed,
                  .is_handed_in =
                      [&](const std::vector<ByteVector>& outputs) {
                        return std::ranges::any_of(results, [&](const auto* result) {
                          return bytes_.same(order, *result, part, outputs).value_or(false);
                        });
                      },
                  .waits_for_second = order.waits_for_second});
}

SecondLook::Opinion SecondLook::at(VerifiedJobs::Known& job, const Question& question) {
  const PartRun& part = question.part;
  if (!is_steady(job, part, question.computed, first_device))
    return {.unsteady = true, .reason = std::string(changes_by_run)};
  const auto second = runs_.run_part(job, part, second_device);
  if (!second) {
    if (runs_.has_second())
      log_info("The verifier's second device cannot run a part of job {}: {}", job.id.text(),
               second.error().message);
    const bool late =
        question.waits_for_second && second.error().code == ErrorCode::deadline_exceeded;
    return {.late = late, .reason = late ? second.error().message : std::string()};
  }
  if (!is_steady(job, part, second->outputs, second_device))
    return {.unsteady = true, .reason = std::string(changes_by_run)};
  if (same_inside(*job.job->manifest, second->outputs, part.range, question.computed, part.range))
    return {.devices = trust::Devices::two, .reason = {}};
  if (question.is_handed_in(second->outputs))
    return {.devices = trust::Devices::divided,
            .unsteady = true,
            .reason = std::string(differs_by_device)};
  return {.devices = trust::Devices::divided, .reason = {}};
}

// Kernels are always steady, because they are the project's own code.
bool SecondLook::is_steady(VerifiedJobs::Known& job, const PartRun& part,
                           const std::vector<ByteVector>& computed, VerifierDevice device) {
  const manifest::Manifest& manifest = *job.job->manifest;
  if (manifest.kind == manifest::Kind::kernel) return true;
  const auto agrees = [&](manifest::Range range) {
    PartRun again = part;
    again.range = range;
    const auto ran = runs_.run_part(job, again, device);
    if (!ran) {
      log_info("The verifier cannot run a part of job {} a second time: {}", job.id.text(),
               ran.error().message);
      return true;
    }
    return same_inside(manifest, ran->outputs, range, computed, part.range);
  };
  const auto larger = around(manifest, part.range, DeviceRuns::workgroups_in_time(job, device));
  return agrees(part.range) && (larger == part.range || agrees(larger));
}

}  // namespace weft::coordinator
