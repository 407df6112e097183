// Numbers that name things for as long as a process lives: a connection, a chain, a sequence. The
// tag keeps one kind of number from being passed for another; 0 names nothing.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <functional>

namespace weft {

// `Tag` is any type, used for its name alone. Ids are ordered by their numbers.
//   using SessionId = NumberId<struct SessionTag, std::uint64_t>;
template <class Tag, std::unsigned_integral Number>
class NumberId {
 public:
  constexpr NumberId() = default;
  constexpr explicit NumberId(Number number) : number_(number) {}

  [[nodiscard]] constexpr Number number() const { return number_; }
  // Whether it names something.
  [[nodiscard]] constexpr explicit operator bool() const { return number_ != 0; }
  // The next number, for the counter that gives them out.
  constexpr NumberId& operator++() {
    ++number_;
    return *this;
  }
  friend constexpr auto operator<=>(const NumberId&, const NumberId&) = default;

 private:
  Number number_ = 0;
};

}  // namespace weft

template <class Tag, class Number>
struct std::hash<weft::NumberId<Tag, Number>> {
  std::size_t operator()(const weft::NumberId<Tag, Number>& id) const noexcept {
    return std::hash<Number>()(id.number());
  }
};
