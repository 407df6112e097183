// The decisions of the events since the last flush, as rows for the store, and their consequences
// as effects: verdicts, answers, orders. Effects go out in the order in which they were decided,
// and only after the rows of their flush and of all earlier flushes are durable.
//
// Threading: one thread. Bounds: `flights_max` flushes may be on their way to the disk; beyond
// that, rows and effects are gathered. After a commit that failed nothing goes out any more.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "common/records/records.h"
#include "decisions/jobs/events.h"
#include "decisions/jobs/world.h"

namespace weft::jobs {

class Outbox {
 public:
  Outbox(World& world, std::size_t flights_max) : world_(world), flights_max_(flights_max) {}
  Outbox(const Outbox&) = delete;

  // The rows that the next flush stores.
  [[nodiscard]] store::Batch& batch() { return batch_; }
  // Adds an effect, which runs after all earlier decisions are durable. It must not call the
  // outbox.
  void effect(std::function<void()> work) { effects_.push_back(std::move(work)); }
  // A function that sends one result as an effect.
  template <class Value>
  auto replier(Answer<Value> answer) {
    return [this, answer = std::move(answer)](Result<Value> result) {
      effect([answer, result = std::move(result)] { answer(result); });
    };
  }

  // Hands the rows to the store, if there are any, and the effects to the queue of flushes.
  void flush();
  // True after a commit failed: nothing goes out any more.
  [[nodiscard]] bool is_broken() const { return is_broken_; }
  // The number of batches that were handed to the store.
  [[nodiscard]] std::uint64_t commits() const { return commits_; }

 private:
  struct Flight {
    std::uint64_t number = 0;
    bool is_durable = false;
    std::vector<std::function<void()>> effects;
  };
  void land();

  World& world_;
  const std::size_t flights_max_;
  store::Batch batch_;
  std::vector<std::function<void()>> effects_;
  std::deque<Flight> flights_;  // Commits under way, the oldest first.
  std::uint64_t flight_next_ = 1;
  std::uint64_t commits_ = 0;
  bool is_broken_ = false;
};

}  // namespace weft::jobs
