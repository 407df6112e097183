// The queue of the coordinator's verifier. Disputes come first, then canaries, then samples, then
// tasks of convicted workers. While samples of newcomers and samples of other workers wait, each of
// the two kinds gets half of the time. Orders of one urgency take turns by their `turn`. Every
// eighth order is of the least urgent kind that waits (except disputes and canaries), so that no
// order waits without end.
//
// Pure, not thread-safe. Bounds: orders_max waiting orders.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "decisions/trust/verifier_turns.h"

namespace weft::coordinator {

class VerifierQueue {
 public:
  static constexpr std::size_t orders_max = 8192;

  enum class Urgency : std::uint8_t { dispute, canary, newcomer, routine, paid };

  // An order; its work is opaque to the queue.
  struct Order {
    Urgency urgency = Urgency::routine;
    std::string turn;  // A client, or the network of a newcomer.
    std::function<void()> carry_out;
  };

  // Adds an order. Returns false and drops the order if too many wait.
  [[nodiscard]] bool add(Order order);
  // Removes and returns the next order; empty if no order waits.
  [[nodiscard]] std::optional<Order> next();
  // Records the time that an order of that urgency took.
  void spent(Urgency urgency, double seconds);
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t urgencies = 5;
  static constexpr std::uint32_t least_urgent_every = 8;
  // The waiting orders of one urgency, by turn.
  struct Turns {
    std::map<std::string, std::deque<Order>> of;
    std::optional<std::string> last;
  };

  [[nodiscard]] bool waits(Urgency urgency) const { return !queues_[index(urgency)].of.empty(); }
  [[nodiscard]] Urgency choose();
  [[nodiscard]] static std::size_t index(Urgency urgency) {
    return static_cast<std::size_t>(urgency);
  }

  std::array<Turns, urgencies> queues_;
  std::size_t size_ = 0;
  std::uint32_t taken_ = 0;
  trust::VerifierTurns halves_;
};

}  // namespace weft::coordinator
