// Several lambdas as one visitor of a std::variant, one for each alternative:
//
//   std::visit(Match{[](const Lease& lease) { ... }, [](const Cancel& cancel) { ... }}, decision);
#pragma once

namespace weft {

template <class... Cases>
struct Match : Cases... {
  using Cases::operator()...;
};

}  // namespace weft
