#include "decisions/mesh/latency.h"

#include "common/base/check.h"

namespace weft::mesh {

Latency::Latency(std::size_t nodes, Link everywhere)
    : nodes_(nodes), links_(nodes * nodes, everywhere) {
  for (std::size_t node = 0; node < nodes; ++node) links_[node * nodes + node] = {};
}

Link Latency::at(std::size_t from, std::size_t to) const {
  check(from < nodes_ && to < nodes_, "a node of the latencies");
  return links_[from * nodes_ + to];
}

void Latency::set(std::size_t from, std::size_t to, Link link) {
  check(from < nodes_ && to < nodes_ && from != to, "two nodes of the latencies");
  links_[from * nodes_ + to] = link;
}

void Latency::set_both(std::size_t a, std::size_t b, Link link) {
  set(a, b, link);
  set(b, a, link);
}

}  // namespace weft::mesh
