// What waits for the coordinator's verifier, and what is next: disputes before canaries before
// samples before tasks of convicted workers. Newcomers' samples and others have half of the time
// each while both wait; orders of one urgency take turns, by the name of their turn. Every eighth
// order is of the least urgent of these, so that nothing waits without end.
//
// Pure, not thread-safe. Bounds: orders_max that wait.
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

  // The queue does not know what an order is about.
  struct Order {
    Urgency urgency = Urgency::routine;
    std::string turn;  // A client's, or a newcomer's network.
    std::function<void()> carry_out;
  };

  // False, and the order is dropped, if too many wait.
  [[nodiscard]] bool add(Order order);
  // Taken out; nothing if none waits.
  [[nodiscard]] std::optional<Order> next();
  // What an order of that urgency has taken.
  void spent(Urgency urgency, double seconds);
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t urgencies = 5;
  static constexpr std::uint32_t least_urgent_every = 8;
  // Orders of one urgency.
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
