#include "apps/bench/attacks/standing_looks.h"

#include <algorithm>

#include "apps/bench/attacks/standing.h"

namespace weft::coordinator::bench {
namespace {

constexpr std::size_t at_a_time = 4;

}  // namespace

void StandingLooks::look_at(Wire::Id id) {
  const Player& its = workers_.player(id);
  asking_.ask(its.key, "GET", "/v1/stakes/" + its.key.public_key().text(), "",
              [this, id](int status, std::string_view body) {
                if (status != 200 || !workers_.is_here(id)) return;
                const auto shown = read_standing(body);
                if (!shown) return context_.fail_with(shown.error());
                workers_.set_standing(id, *shown);
              });
}

void StandingLooks::look_at_next() {
  const auto& attackers = workers_.attackers();
  for (std::size_t i = 0; i < std::min(at_a_time, attackers.size()); ++i) {
    const Wire::Id id = attackers[next_++ % attackers.size()];
    if (workers_.is_here(id)) look_at(id);
  }
}

}  // namespace weft::coordinator::bench
