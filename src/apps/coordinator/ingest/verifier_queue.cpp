#include "apps/coordinator/ingest/verifier_queue.h"

namespace weft::coordinator {

bool VerifierQueue::add(Order order) {
  if (size_ >= orders_max) return false;
  auto& turn = queues_[index(order.urgency)].of[order.turn];
  turn.push_back(std::move(order));
  ++size_;
  return true;
}

// The urgency of the next order; at least one order must wait.
VerifierQueue::Urgency VerifierQueue::choose() {
  using enum Urgency;
  if (++taken_ % least_urgent_every == 0) {
    for (const Urgency each : {paid, routine, newcomer}) {
      if (waits(each)) return each;
    }
  }
  for (const Urgency each : {dispute, canary}) {
    if (waits(each)) return each;
  }
  if (!waits(newcomer) && !waits(routine)) return paid;
  return halves_.next(waits(newcomer), waits(routine)) == trust::VerifierTurns::newcomers ? newcomer
                                                                                          : routine;
}

std::optional<VerifierQueue::Order> VerifierQueue::next() {
  if (size_ == 0) return std::nullopt;
  Turns& turns = queues_[index(choose())];
  auto turn = turns.last ? turns.of.upper_bound(*turns.last) : turns.of.begin();
  if (turn == turns.of.end()) turn = turns.of.begin();
  turns.last = turn->first;
  Order order = std::move(turn->second.front());
  turn->second.pop_front();
  if (turn->second.empty()) turns.of.erase(turn);
  --size_;
  return order;
}

void VerifierQueue::spent(Urgency urgency, double seconds) {
  if (urgency == Urgency::newcomer) halves_.spent(trust::VerifierTurns::newcomers, seconds);
  if (urgency == Urgency::routine) halves_.spent(trust::VerifierTurns::others, seconds);
}

}  // namespace weft::coordinator
