#include "decisions/scheduler/waiting.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ranges>

#include "common/base/counted.h"
#include "common/base/format.h"

namespace weft::scheduler {
namespace {

std::string in_words(double seconds) {
  return seconds < 10 ? weft::format("{:.1f} s", seconds) : weft::format("{:.0f} s", seconds);
}

std::string expected(const Waiting& waiting, std::string_view what) {
  return waiting.seconds ? weft::format(" {} in {}.", what, in_words(*waiting.seconds)) : "";
}

std::string listed(const std::vector<Waiting::Lack>& lacks) {
  std::string text;
  for (const Waiting::Lack& lack : lacks)
    text += weft::format("{}{} ({} {} not)", text.empty() ? "" : ", ", lack.what, lack.workers,
                         lack.workers == 1 ? "has" : "have");
  return text;
}

}  // namespace

std::string_view to_string(WaitReason reason) {
  constexpr std::array words{"no-workers", "requirements", "price",     "wallets",    "too-slow",
                             "retry",      "canary",       "own-state", "checks",     "patience",
                             "memory",     "promised",     "reserved",  "making-way", "busy"};
  return words.at(static_cast<std::size_t>(reason));
}

std::string sentence(const Waiting& waiting) {
  const std::string able = counted(waiting.able, "worker");
  switch (waiting.reason) {
    case WaitReason::no_workers:
      if (waiting.connected == 0) return "No worker is connected.";
      return weft::format("{} {} connected, and none takes tasks now.",
                          counted(waiting.connected, "worker"),
                          waiting.connected == 1 ? "is" : "are");
    case WaitReason::requirements:
      return weft::format("None of {} has all that the job requires: {}.",
                          counted(waiting.connected - waiting.paused, "worker"),
                          listed(waiting.lacks));
    case WaitReason::price:
      return weft::format(
          "None of {} that can run the job accepts its price of {:.6f} credits a unit; the lowest "
          "accepted price is {:.6f}.",
          able, static_cast<double>(waiting.per_unit) / 1e6,
          static_cast<double>(waiting.accepted) / 1e6);
    case WaitReason::wallets:
      return weft::format(
          "Each of the {} replicas of a task needs a worker of another wallet: {} placed, and {} "
          "in all can run the job.",
          waiting.replicas, waiting.placed, able);
    case WaitReason::too_slow:
      return weft::format(
          "A task would take {} on the fastest of {}, and may take {}: with more tasks, each of "
          "them is shorter.",
          in_words(waiting.seconds.value_or(0)), able, in_words(waiting.seconds_max));
    case WaitReason::retry:
      return "The task failed on every worker that can run it." +
             expected(waiting, "It is tried there again");
    case WaitReason::canary:
      return weft::format("Task {} runs first, to show what the job's tasks take.", waiting.index);
    case WaitReason::own_state:
      return "The task made way for a more urgent one, and only its worker can continue it." +
             expected(waiting, "Another begins it from the start");
    case WaitReason::checks:
      return "Only new workers are free, and they get no tasks now: their results would wait too "
             "long for a check.";
    case WaitReason::patience:
      return "Every free worker is too slow for the task or is likely to leave before its end; a "
             "better worker may become free." +
             expected(waiting, "It waits no longer than");
    case WaitReason::memory:
      return weft::format("No free worker has enough memory left for the task; {} can run it.",
                          able);
    case WaitReason::promised:
      return "The room that is left is reserved for a task that comes first.";
    case WaitReason::reserved:
      return "Room on a worker is reserved for the task." + expected(waiting, "It is expected");
    case WaitReason::making_way:
      return "A task of less worth was asked to make way at its next checkpoint.";
    case WaitReason::busy:
      break;
  }
  std::string text = weft::format("{} that can run the job {} enough to do.",
                                  waiting.able == 1 ? "The worker" : weft::format("All {}", able),
                                  waiting.able == 1 ? "has" : "have");
  text += expected(waiting, "The first is expected to be free");
  if (waiting.position > 1)
    text += weft::format(" {} {} first.", counted(waiting.position - 1, "job"),
                         waiting.position == 2 ? "comes" : "come");
  if (waiting.position == 0)
    text += weft::format(" More than {} jobs come first.", Waiting::position_max);
  if (waiting.lead_seconds > 0)
    text += weft::format(" Its client has had {} more than its share of the network.",
                         in_words(waiting.lead_seconds));
  return text;
}

}  // namespace weft::scheduler
