#include "apps/coordinator/ingest/verifier.h"

#include <algorithm>
#include <iterator>

#include "apps/coordinator/ingest/output_types.h"
#include "common/base/log.h"
#include "common/manifest/split.h"
#include "common/proof/compare.h"
#include "common/proof/merkle.h"
#include "decisions/trust/audit.h"

namespace weft::coordinator {
namespace {

constexpr std::string_view changes =
    "The verifier computes something else of the same part when it runs it again, or inside a "
    "larger range.";
constexpr std::string_view differs_by_device =
    "The verifier's two devices compute different things of the same part, and a result has what "
    "the second one computes.";

jobs::Checked unsteady(std::string reason) {
  return {.outcome = trust::AuditOutcome::failed, .reason = std::move(reason), .unsteady = true};
}

// As many workgroups more on each side as the part has, of at most `count_max` in all.
manifest::Range around(const manifest::Manifest& manifest, manifest::Range part,
                       std::uint32_t count_max) {
  if (!manifest::can_cut(manifest) || count_max <= part.count) return part;
  const std::uint32_t more = std::min(part.count, count_max - part.count);
  const std::uint32_t before = std::min(part.first, more);
  const std::uint32_t after = std::min(manifest::axis_length(manifest) - part.first - part.count,
                                       count_max - part.count - before);
  return {.first = part.first - before, .count = before + part.count + std::min(after, part.count)};
}

// The least that a run is cut to: one of the parts into which the task is cut for checks.
std::uint32_t least_workgroups(const jobs::VerifyOrder& order) {
  const std::uint32_t whole = manifest::task_range(*order.manifest, order.task.index).count;
  if (!manifest::can_cut(*order.manifest)) return whole;
  const std::uint32_t parts = std::max(order.parts, std::uint32_t{1});
  return std::max(whole / parts + (whole % parts == 0 ? 0 : 1), std::uint32_t{1});
}

bool equal(const manifest::Manifest& manifest, std::size_t output, ByteSpan left, ByteSpan right) {
  if (left.size() != right.size()) return false;
  const auto& compare = manifest.verify.compare;
  return compare.exact
             ? !proof::difference_exact(left, right)
             : !proof::difference(left, right, output_types(manifest)[output],
                                  {.absolute = compare.absolute, .relative = compare.relative});
}

// Whether the outputs of a range have those of a part of it.
bool same_inside(const manifest::Manifest& manifest, const std::vector<ByteVector>& of_range,
                 manifest::Range range, const std::vector<ByteVector>& of_part,
                 manifest::Range part) {
  if (of_range.size() != of_part.size()) return false;
  for (std::size_t output = 0; output < of_part.size(); ++output) {
    const auto whole = manifest::output_extent(manifest, output, range);
    const auto wanted = manifest::output_extent(manifest, output, part);
    if (of_range[output].size() != whole.size || wanted.offset < whole.offset ||
        wanted.offset + wanted.size > whole.offset + whole.size)
      return false;
    if (!equal(manifest, output,
               ByteSpan(of_range[output]).subspan(wanted.offset - whole.offset, wanted.size),
               of_part[output]))
      return false;
  }
  return true;
}

}  // namespace

Verifier::Verifier(store::Blobs& blobs, PartRunnerFactory make, Verified verified,
                   Measured measured, const VerifierBounds& bounds)
    : blobs_(blobs),
      make_(std::move(make)),
      verified_(std::move(verified)),
      measured_(std::move(measured)),
      late_for_(bounds.late_for),
      jobs_(blobs, bounds),
      thread_([this](const std::stop_token& stop) { serve(stop); }) {}

Verifier::~Verifier() = default;

std::size_t Verifier::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_;
}

void Verifier::verify(jobs::VerifyOrder order) {
  const Urgency urgency = order.paid              ? paid
                          : !order.rivals.empty() ? dispute
                          : order.first           ? first
                                                  : routine;
  std::string turn = urgency == first && !order.group.empty() ? order.group : order.client.text();
  add(urgency, std::move(turn), {.verify = std::move(order), .measure = {}});
}

void Verifier::measure(jobs::MeasureOrder order) {
  std::string turn = order.client.text();
  add(canary, std::move(turn), {.verify = {}, .measure = std::move(order)});
}

void Verifier::add(Urgency urgency, std::string turn, Order order) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_ < orders_max) {
      queues_[urgency].of[std::move(turn)].push_back(std::move(order));
      ++waiting_;
      changed_.notify_one();
      return;
    }
  }
  // Others may be able to, and it may later; newcomers wait.
  constexpr std::string_view too_many = "Too many results wait for the verifier.";
  if (order.verify)
    verified_(
        *order.verify,
        {.outcome = trust::AuditOutcome::failed, .reason = std::string(too_many), .late = true});
  if (order.measure) measured_(order.measure->job, fail(ErrorCode::resource_exhausted, too_many));
}

// The urgency of the next order, where one waits.
Verifier::Urgency Verifier::next() {
  const auto waits = [this](Urgency each) { return !queues_[each].of.empty(); };
  if (++turns_ % least_urgent_every == 0) {
    for (const Urgency each : {paid, routine, first}) {
      if (waits(each)) return each;
    }
  }
  for (const Urgency each : {dispute, canary}) {
    if (waits(each)) return each;
  }
  if (!waits(first) && !waits(routine)) return paid;
  return halves_.next(waits(first), waits(routine)) == trust::VerifierTurns::newcomers ? first
                                                                                       : routine;
}

void Verifier::serve(const std::stop_token& stop) {
  for (;;) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, stop, idle_max, [this] { return waiting_ > 0; })) {
      if (stop.stop_requested()) break;
      lock.unlock();
      for (const auto& runner : runners_) {
        if (runner) runner->rest();
      }
      jobs_.clear();
      continue;
    }
    if (stop.stop_requested()) break;
    const Urgency urgency = next();
    Turns& turns = queues_[urgency];
    auto turn = turns.last ? turns.of.upper_bound(*turns.last) : turns.of.begin();
    if (turn == turns.of.end()) turn = turns.of.begin();
    turns.last = turn->first;
    Order order = std::move(turn->second.front());
    turn->second.pop_front();
    if (turn->second.empty()) turns.of.erase(turn);
    --waiting_;
    lock.unlock();
    const Instant began = now();
    carry_out(order);
    const Instant ended = now();
    if (urgency == first) halves_.spent(trust::VerifierTurns::newcomers, seconds(ended - began));
    if (urgency == routine) halves_.spent(trust::VerifierTurns::others, seconds(ended - began));
    if (busy_.worked(began, ended))
      log_warning(
          "The verifier is busy for {:.0f} % of the time: add one before results wait (`weft "
          "invite "
          "--verifier`, then `weft work --invite CODE` on another machine).",
          100 * busy_.share());
  }
  for (auto& runner : runners_) runner.reset();  // On the thread that started its process.
}

void Verifier::carry_out(Order& order) {
  if (order.verify) return verified_(*order.verify, check(*order.verify));
  const auto measured = measurement(*order.measure);
  if (!measured)
    log_info("The verifier cannot measure job {}: {}", order.measure->job.text(),
             measured.error().message);
  measured_(order.measure->job, measured);
}

// A smaller part is measured if this one takes too long.
Result<scheduler::Measurement> Verifier::measurement(const jobs::MeasureOrder& order) {
  constexpr std::uint32_t less = 8;
  WEFT_ASSIGN(Known* const job, jobs_.find_or_load(order.job, order.manifest));
  for (manifest::Range range = order.range;;
       range.count = std::max(range.count / less, std::uint32_t{1})) {
    const auto ran = run(*job, range);
    if (ran)
      return scheduler::Measurement{.workgroups = range.count,
                                    .gpu_seconds = ran->seconds,
                                    .elapsed_seconds = ran->seconds,
                                    .rate = ran->rate};
    if (ran.error().code != ErrorCode::deadline_exceeded || range.count == 1 ||
        !manifest::can_cut(*order.manifest))
      return std::unexpected(ran.error());
  }
}

jobs::Checked Verifier::check(const jobs::VerifyOrder& order) {
  const auto given_up = [&](const Error& why) {
    log_info("The verifier cannot check {}: {}", order.task.text(), why.message);
    return jobs::Checked{.outcome = trust::AuditOutcome::failed,
                         .reason = why.message,
                         .late = why.code == ErrorCode::deadline_exceeded};
  };
  const auto job = jobs_.find_or_load(order.task.job, order.manifest);
  if (!job) return given_up(job.error());
  if (order.paid) {
    auto checked = check_paid(order, **job);
    return checked ? std::move(*checked) : given_up(checked.error());
  }
  std::vector<manifest::Range> ranges = order.ranges;
  bool each_differs = false;  // Each other result in the range at its place.
  if (!order.rivals.empty()) {
    auto apart = differing(order);
    if (!apart) return given_up(apart.error());
    each_differs = apart->size() == order.rivals.size();
    if (!apart->empty()) ranges = std::move(*apart);
  }
  jobs::Checked checked{.outcome = trust::AuditOutcome::agrees};
  // Disputes are looked at range by range.
  std::vector<manifest::Range> runs =
      order.rivals.empty()
          ? runs_of(ranges, (*job)->costs.gap_max(), workgroups_in_time(**job, first_device))
          : ranges;
  const std::uint32_t least = least_workgroups(order);
  // Several parts are run one by one, since what lies between them may be what fails or takes too
  // long; a single one in pieces. False: it is as small as it may be.
  const auto split = [&](manifest::Range range, std::uint32_t most) {
    const auto is_part = [&](const manifest::Range& part) {
      return part != range && is_inside(part, range);
    };
    if (std::ranges::any_of(ranges, is_part)) {
      std::ranges::copy_if(ranges, std::back_inserter(runs), is_part);
      return true;
    }
    const std::uint32_t count_max = std::max(most, least);
    if (most == 0 || range.count <= count_max) return false;
    std::ranges::copy(manifest::pieces(*order.manifest, range, count_max),
                      std::back_inserter(runs));
    return true;
  };
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const manifest::Range range = runs[i];
    const std::uint32_t in_time = workgroups_in_time(**job, first_device);
    if (in_time > 0 && range.count > in_time && split(range, in_time)) continue;
    auto ran = run(**job, range, first_device);
    if (!ran) {
      const bool late = ran.error().code == ErrorCode::deadline_exceeded;
      if (split(range, late ? range.count / 2 : 0)) continue;
      return given_up(ran.error());
    }
    checked.vendor = runners_[first_device]->vendor();
    const auto agrees = same(order, order.outputs, range, ran->outputs);
    if (!agrees) return given_up(agrees.error());
    // What it confirms refutes the others.
    if (*agrees && order.rivals.empty()) continue;
    // A part that differs is looked at alone.
    const manifest::Range part = *agrees ? range : first_wrong(order, ranges, range, ran->outputs);
    if (part != range) {
      ran = run(**job, part, first_device);
      if (!ran) return given_up(ran.error());
      const auto alone = same(order, order.outputs, part, ran->outputs);
      if (!alone) return given_up(alone.error());
      if (*alone) return unsteady(std::string(changes));
    }
    Opinion found = opinion(order, **job, part, ran->outputs);
    if (found.unsteady) return unsteady(std::move(found.reason));
    if (found.late) return given_up({ErrorCode::deadline_exceeded, std::move(found.reason)});
    if (*agrees) {
      checked.apart.push_back(range);
      // What holds in all of the ranges.
      if (checked.apart.size() == 1 || found.devices == trust::Devices::divided ||
          checked.devices == trust::Devices::two)
        checked.devices = found.devices;
      continue;
    }
    checked.devices = found.devices;
    checked.outcome = trust::AuditOutcome::differs;
    checked.wrong = part;
    checked.apart.clear();
    return checked;
  }
  if (!each_differs) checked.apart.clear();
  return checked;
}

Verifier::Opinion Verifier::opinion(const jobs::VerifyOrder& order, Known& job,
                                    manifest::Range part, const std::vector<ByteVector>& computed) {
  if (!is_steady(job, part, computed, first_device))
    return {.unsteady = true, .reason = std::string(changes)};
  const auto second = run(job, part, second_device);
  if (!second) {
    if (has_second_)
      log_info("The verifier's second device cannot run a part of job {}: {}", job.id.text(),
               second.error().message);
    const bool late = order.waits_for_second && second.error().code == ErrorCode::deadline_exceeded;
    return {.late = late, .reason = late ? second.error().message : std::string()};
  }
  if (!is_steady(job, part, second->outputs, second_device))
    return {.unsteady = true, .reason = std::string(changes)};
  if (same_inside(*job.job->manifest, second->outputs, part, computed, part))
    return {.devices = trust::Devices::two, .reason = {}};
  std::vector<const std::vector<store::OutputBlob>*> results{&order.outputs};
  for (const auto& rival : order.rivals) results.push_back(&rival);
  for (const auto* result : results) {
    if (same(order, *result, part, second->outputs).value_or(false))
      return {.devices = trust::Devices::divided,
              .unsteady = true,
              .reason = std::string(differs_by_device)};
  }
  return {.devices = trust::Devices::divided, .reason = {}};
}

// The first of the parts that were asked for in which the result differs from the run; where it
// differs between them, the run.
manifest::Range Verifier::first_wrong(const jobs::VerifyOrder& order,
                                      const std::vector<manifest::Range>& parts,
                                      manifest::Range range,
                                      const std::vector<ByteVector>& computed) const {
  for (const manifest::Range& part : parts) {
    if (!is_inside(part, range)) continue;
    std::vector<ByteVector> inside;
    for (std::size_t output = 0; output < computed.size(); ++output) {
      const auto whole = manifest::output_extent(*order.manifest, output, range);
      const auto wanted = manifest::output_extent(*order.manifest, output, part);
      if (wanted.offset < whole.offset ||
          wanted.offset - whole.offset + wanted.size > computed[output].size())
        return range;
      const auto bytes =
          ByteSpan(computed[output]).subspan(wanted.offset - whole.offset, wanted.size);
      inside.emplace_back(bytes.begin(), bytes.end());
    }
    const auto agrees = same(order, order.outputs, part, inside);
    if (agrees && !*agrees) return part;
  }
  return range;
}

// As many as it expects to finish in the time that one run may take; 0: that is not known.
std::uint32_t Verifier::workgroups_in_time(const Known& job, Device device) {
  return job.limits[device].workgroups_in(seconds(part_max));
}

// The whole task: where it is wrong, the right bytes are kept.
Result<jobs::Checked> Verifier::check_paid(const jobs::VerifyOrder& order, Known& job) {
  const auto whole = manifest::task_range(*order.manifest, order.task.index);
  jobs::Checked checked{.outcome = trust::AuditOutcome::agrees};
  std::vector<ByteVector> right;
  for (std::size_t output = 0; output < order.outputs.size(); ++output)
    right.emplace_back(manifest::output_extent(*order.manifest, output, whole).size);
  for (const manifest::Range& range : order.ranges) {
    WEFT_ASSIGN(const auto ran, run(job, range));
    WEFT_ASSIGN(const bool agrees, same(order, order.outputs, range, ran.outputs));
    if (!agrees && !checked.wrong) {
      Opinion found = opinion(order, job, range, ran.outputs);
      if (found.unsteady) return unsteady(std::move(found.reason));
      if (found.late) return fail(ErrorCode::deadline_exceeded, "{}", found.reason);
      checked.devices = found.devices;
      checked.wrong = range;
    }
    if (ran.outputs.size() != right.size())
      return fail(ErrorCode::internal, "The verifier computes {} outputs, not {}.",
                  ran.outputs.size(), right.size());
    for (std::size_t output = 0; output < right.size(); ++output) {
      const auto of_task = manifest::output_extent(*order.manifest, output, whole);
      const auto part = manifest::output_extent(*order.manifest, output, range);
      if (ran.outputs[output].size() != part.size)
        return fail(ErrorCode::internal, "The verifier computes {} bytes of output {}, not {}.",
                    ran.outputs[output].size(), output, part.size);
      std::ranges::copy(
          ran.outputs[output],
          right[output].begin() + static_cast<std::ptrdiff_t>(part.offset - of_task.offset));
    }
  }
  if (!checked.wrong) return checked;
  checked.outcome = trust::AuditOutcome::differs;
  const std::vector<ByteSpan> spans(right.begin(), right.end());
  WEFT_ASSIGN(const auto hashes, blobs_.add_all(spans));
  jobs::Recomputed made;
  std::vector<Hash> roots;
  for (std::size_t output = 0; output < right.size(); ++output) {
    made.outputs.push_back({.hash = hashes[output], .bytes = right[output].size()});
    roots.push_back(proof::output_root(right[output]));
  }
  made.root = proof::root_of_roots(roots);
  checked.right = std::move(made);
  return checked;
}

// For each other result a part in which it differs from this one: what is computed there says which
// of them is wrong.
Result<std::vector<manifest::Range>> Verifier::differing(const jobs::VerifyOrder& order) const {
  const auto whole = manifest::task_range(*order.manifest, order.task.index);
  std::vector<manifest::Range> ranges;
  for (const auto& rival : order.rivals) {
    for (std::uint32_t number = 0; number < order.parts; ++number) {
      const auto part =
          trust::part_of({.first = whole.first, .count = whole.count}, order.parts, number);
      const manifest::Range range{.first = part.first, .count = part.count};
      std::vector<ByteVector> theirs;
      for (std::size_t output = 0; output < rival.size(); ++output) {
        const auto of_task = manifest::output_extent(*order.manifest, output, whole);
        const auto wanted = manifest::output_extent(*order.manifest, output, range);
        WEFT_ASSIGN(auto bytes,
                    blobs_.read(rival[output].hash, wanted.offset - of_task.offset, wanted.size));
        theirs.push_back(std::move(bytes));
      }
      WEFT_ASSIGN(const bool agrees, same(order, order.outputs, range, theirs));
      if (agrees) continue;
      ranges.push_back(range);
      break;
    }
  }
  return ranges;
}

// A shader whose answer changes from run to run, or with the range around it, convicts no worker. A
// kernel is ours.
bool Verifier::is_steady(Known& job, manifest::Range part, const std::vector<ByteVector>& computed,
                         Device device) {
  const manifest::Manifest& manifest = *job.job->manifest;
  if (manifest.kind == manifest::Kind::kernel) return true;
  const auto agrees = [&](manifest::Range range) {
    const auto ran = run(job, range, device);
    if (!ran) {
      log_info("The verifier cannot run a part of job {} a second time: {}", job.id.text(),
               ran.error().message);
      return true;
    }
    return same_inside(manifest, ran->outputs, range, computed, part);
  };
  const auto larger = around(manifest, part, workgroups_in_time(job, device));
  return agrees(part) && (larger == part || agrees(larger));
}

Result<bool> Verifier::same(const jobs::VerifyOrder& order,
                            const std::vector<store::OutputBlob>& outputs, manifest::Range range,
                            const std::vector<ByteVector>& computed) const {
  const auto whole = manifest::task_range(*order.manifest, order.task.index);
  if (computed.size() != outputs.size()) return false;
  for (std::size_t output = 0; output < outputs.size(); ++output) {
    const auto of_task = manifest::output_extent(*order.manifest, output, whole);
    const auto wanted = manifest::output_extent(*order.manifest, output, range);
    WEFT_ASSIGN(const auto claimed,
                blobs_.read(outputs[output].hash, wanted.offset - of_task.offset, wanted.size));
    if (!equal(*order.manifest, output, claimed, computed[output])) return false;
  }
  return true;
}

Result<PartRunner::Ran> Verifier::run(Known& job, manifest::Range range, Device device) {
  RunLimit& limit = job.limits[device];
  if (limit.is_late(range.count, now(), late_for_))
    return fail(ErrorCode::deadline_exceeded,
                "A part of the job took longer than {} s a moment ago.", part_max.count());
  if (!runners_[first_device]) runners_[first_device] = make_();
  if (device == second_device && !runners_[second_device] && has_second_) {
    runners_[second_device] = runners_[first_device]->on_another_device();
    has_second_ = runners_[second_device] != nullptr;
  }
  if (!runners_[device])
    return fail(ErrorCode::unavailable, "This machine has no second device that runs WGSL.");
  const Instant began = now();
  auto ran = runners_[device]->run(job.job, range, part_max);
  if (ran) {
    if (device == first_device) job.costs.ran(range.count, seconds(now() - began));
    limit.ran(range.count, ran->seconds);
  } else if (ran.error().code == ErrorCode::deadline_exceeded) {
    limit.ran_out(range.count, seconds(part_max), now());
  }
  return ran;
}

}  // namespace weft::coordinator
