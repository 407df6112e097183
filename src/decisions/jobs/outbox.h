// What the events since the last flush decided, as rows for the store, and what follows from it, as
// effects: verdicts, answers, orders. Effects go out in the order in which they were decided, and
// only after the rows of their flush and of all flushes before it are durable.
//
// Threading: one thread. Bounds: as many flushes as `flights_max` are on their way to the disk;
// beyond that rows and effects gather. After a commit that failed nothing goes out any more.
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

  // What the next flush stores.
  [[nodiscard]] store::Batch& batch() { return batch_; }
  // Done after everything that was decided before it is durable. It must not call back.
  void effect(std::function<void()> work) { effects_.push_back(std::move(work)); }
  // Hands one result over as an effect.
  template <class Value>
  auto replier(Answer<Value> answer) {
    return [this, answer = std::move(answer)](Result<Value> result) {
      effect([answer, result = std::move(result)] { answer(result); });
    };
  }

  // Hands the rows to the store, if there are any, and the effects to the queue of flushes.
  void flush();
  // A commit failed: nothing goes out any more.
  [[nodiscard]] bool is_broken() const { return is_broken_; }
  // Batches handed to the store.
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
  std::deque<Flight> flights_;  // Oldest first.
  std::uint64_t flight_next_ = 1;
  std::uint64_t commits_ = 0;
  bool is_broken_ = false;
};

}  // namespace weft::jobs
