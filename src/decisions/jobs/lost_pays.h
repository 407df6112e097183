// Pay that a conviction took, for tasks that the verifier computes again. The results decide who
// gets the pay.
//
// Pure. Memory: a row for each task that waits, and each worker that was paid for it.
#pragma once

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "decisions/jobs/held_pay.h"

namespace weft::jobs {

struct LostPay {
  PublicKey worker;
  OwnerId owner;
  HeldPays::Part part;
};

class LostPays {
 public:
  void add(LostPay lost) {
    const TaskId task = lost.part.paid->task;
    pays_[task].push_back(std::move(lost));
  }
  // Returns and forgets the lost pay of the task, in the order in which it was lost.
  [[nodiscard]] std::vector<LostPay> take(const TaskId& task) {
    auto node = pays_.extract(task);
    return node.empty() ? std::vector<LostPay>() : std::move(node.mapped());
  }
  [[nodiscard]] bool contains(const TaskId& task) const { return pays_.contains(task); }
  [[nodiscard]] bool waits_for_client(const PublicKey& client) const {
    return std::ranges::any_of(pays_, [&](const auto& of_task) {
      return std::ranges::any_of(
          of_task.second, [&](const LostPay& each) { return each.part.paid->client == client; });
    });
  }

 private:
  std::map<TaskId, std::vector<LostPay>> pays_;
};

}  // namespace weft::jobs
