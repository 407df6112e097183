// Numbers that identify things during the life of a process: a connection, a chain, a sequence. The
// tag keeps one kind of number from being passed in place of another; 0 identifies nothing.
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
  // True unless the number is 0, which identifies nothing.
  [[nodiscard]] constexpr explicit operator bool() const { return number_ != 0; }
  // Advances to the next number, for the counter that assigns them.
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
