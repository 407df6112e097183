#include "engine/schema/number_rules.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <vector>

#include "engine/schema/rules.h"

namespace weft::schema {
namespace {

constexpr std::int64_t integer_max = 999'999'999'999'999;  // The largest number of 15 digits.
constexpr int digits_max = 15;

std::string repeated(std::string_view what, std::size_t least, std::size_t most) {
  if (most == 0) return "";
  return least == most ? weft::format(" {}{{{}}}", what, least)
                       : weft::format(" {}{{{},{}}}", what, least, most);
}

std::string digit_class(char first, char last) {
  return first == last ? weft::format("\"{}\"", first) : weft::format("[{}-{}]", first, last);
}

// Writes the rule for the numbers between two bounds that have the same number of digits.
std::string between(std::string_view low, std::string_view high) {
  const std::size_t rest = low.size() - 1;
  if (low.find_first_not_of('0') == std::string_view::npos &&
      high.find_first_not_of('9') == std::string_view::npos)
    return repeated("[0-9]", low.size(), low.size());
  if (rest == 0) return digit_class(low[0], high[0]);
  if (low[0] == high[0])
    return digit_class(low[0], low[0]) + " " + between(low.substr(1), high.substr(1));
  const std::string zeros(rest, '0'), nines(rest, '9');
  char first = low[0], last = high[0];
  std::vector<std::string> parts;
  if (low.substr(1) != zeros) {
    parts.push_back(digit_class(first, first) + " " + between(low.substr(1), nines));
    ++first;
  }
  std::string top;
  if (high.substr(1) != nines) {
    top = digit_class(last, last) + " " + between(zeros, high.substr(1));
    --last;
  }
  if (first <= last) parts.push_back(digit_class(first, last) + repeated("[0-9]", rest, rest));
  if (!top.empty()) parts.push_back(std::move(top));
  return any_of(parts);
}

// Adds expressions for the integers from low to high, which are not negative.
void add_whole(std::int64_t low, std::int64_t high, std::vector<std::string>& out) {
  for (std::int64_t begin = low; begin <= high;) {
    const std::string digits = std::to_string(begin);
    const std::int64_t end =
        std::min(high, static_cast<std::int64_t>(std::stoll(std::string(digits.size(), '9'))));
    out.push_back(between(digits, std::to_string(end)));
    begin = end + 1;
  }
}

// The integers within the bounds that have at most 15 digits.
struct WholeRange {
  std::int64_t low = -integer_max, high = integer_max;
};
Result<std::optional<WholeRange>> whole_range(const NumberBounds& bounds) {
  WholeRange out;
  if (bounds.least) {
    double least = std::ceil(*bounds.least);
    if (bounds.above && least == *bounds.least) least += 1;
    if (least > static_cast<double>(integer_max))
      return fail(ErrorCode::unsupported, "has more than {} digits, which is not supported",
                  digits_max);
    out.low = std::max(out.low, static_cast<std::int64_t>(std::max(least, -1e16)));
  }
  if (bounds.most) {
    double most = std::floor(*bounds.most);
    if (bounds.below && most == *bounds.most) most -= 1;
    if (most < -static_cast<double>(integer_max))
      return fail(ErrorCode::unsupported, "has more than {} digits, which is not supported",
                  digits_max);
    out.high = std::min(out.high, static_cast<std::int64_t>(std::min(most, 1e16)));
  }
  if (out.low > out.high) return std::nullopt;
  return out;
}

// The digits of a bound that is not negative.
struct Decimal {
  std::int64_t whole = 0;
  std::string fraction;  // The digits after the point, without trailing zeros.
};
Result<Decimal> decimal_of(double value) {
  char text[400];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed).ptr;
  const std::string_view all(text, static_cast<std::size_t>(end - text));
  const std::size_t point = all.find('.');
  Decimal out;
  const std::string_view whole = all.substr(0, point);
  if (point != std::string_view::npos) out.fraction = all.substr(point + 1);
  if (whole.size() > digits_max || whole.size() + out.fraction.size() > digits_max + 2)
    return fail(ErrorCode::unsupported, "has more than {} digits, which is not supported",
                digits_max);
  (void)std::from_chars(whole.data(), whole.data() + whole.size(), out.whole);
  return out;
}

// Writes the remaining digits of a fraction between two bounds; the digits that are already written
// equal those of both bounds.
class FractionWriter {
 public:
  struct Bound {
    std::string_view digits;  // The remaining digits; zeros follow them.
    bool exclusive = false;
  };

  explicit FractionWriter(std::size_t free) : free_(free) {}

  // True if the number may end after the digits that are already written.
  [[nodiscard]] static bool may_end(const std::optional<Bound>& low,
                                    const std::optional<Bound>& high) {
    const bool high_enough = !low || (low->digits.empty() && !low->exclusive);
    const bool low_enough = !high || !high->digits.empty() || !high->exclusive;
    return high_enough && low_enough;
  }
  // Writes one digit or more; nullopt if no digit is possible.
  [[nodiscard]] std::optional<std::string> digits(std::optional<Bound> low,
                                                  const std::optional<Bound>& high,
                                                  std::size_t beyond) const {
    if (low && low->digits.empty() && !low->exclusive) low.reset();
    if (!low && !high) return free_ == 0 ? std::nullopt : std::optional(free(1));
    const auto digit = [](const Bound& bound) {
      return bound.digits.empty() ? '0' : bound.digits[0];
    };
    const char first = low ? digit(*low) : '0', last = high ? digit(*high) : '9';
    std::vector<std::string> parts;
    const auto add_tied = [&](char c) {
      const auto next_low = low && c == first ? std::optional(rest(*low)) : std::nullopt;
      const auto next_high = high && c == last ? std::optional(rest(*high)) : std::nullopt;
      const bool past =
          (!next_low || next_low->digits.empty()) && (!next_high || next_high->digits.empty());
      std::vector<std::string> ends;
      if (may_end(next_low, next_high)) ends.emplace_back("\"\"");
      if (!past || beyond > 0) {
        if (auto more = digits(next_low, next_high, past ? beyond - 1 : beyond))
          ends.push_back(std::move(*more));
      }
      if (!ends.empty()) parts.push_back(digit_class(c, c) + " " + any_of(ends));
    };
    if (first > last) return std::nullopt;
    char from = first, to = last;
    if (low) {
      add_tied(first);
      ++from;
    }
    if (high && (!low || last != first)) {
      add_tied(last);
      --to;
    }
    if (from <= to) parts.push_back(digit_class(from, to) + free(0));
    if (parts.empty()) return std::nullopt;
    return any_of(parts);
  }

 private:
  [[nodiscard]] static Bound rest(const Bound& bound) {
    return {bound.digits.empty() ? bound.digits : bound.digits.substr(1), bound.exclusive};
  }
  [[nodiscard]] std::string free(std::size_t least) const {
    return repeated("[0-9]", least, free_);
  }

  const std::size_t free_;
};

// Adds numbers that are not negative, without a sign.
void add_magnitudes(const Decimal& low, bool above, const std::optional<Decimal>& high, bool below,
                    std::vector<std::string>& out) {
  const std::int64_t high_whole = high ? high->whole : integer_max;
  const std::size_t used = std::to_string(high ? high->whole : low.whole).size() +
                           std::max(low.fraction.size(), high ? high->fraction.size() : 0);
  const std::size_t spare = used >= digits_max ? 0 : std::min<std::size_t>(6, digits_max - used);
  const FractionWriter writer(spare);
  const std::string any_fraction =
      spare == 0 ? "" : weft::format(" (\".\"{})?", repeated("[0-9]", 1, spare));
  const auto add_edge = [&](std::int64_t whole, std::optional<FractionWriter::Bound> from,
                            std::optional<FractionWriter::Bound> to) {
    std::vector<std::string> ends;
    if (FractionWriter::may_end(from, to)) ends.emplace_back("\"\"");
    if (auto digits = writer.digits(from, to, std::min<std::size_t>(spare, 3)))
      ends.push_back("\".\" " + *digits);
    if (!ends.empty()) out.push_back(literal(std::to_string(whole)) + " " + any_of(ends));
  };
  const FractionWriter::Bound from{low.fraction, above};
  const auto to = high ? std::optional(FractionWriter::Bound{high->fraction, below}) : std::nullopt;
  if (low.whole == high_whole) return add_edge(low.whole, from, to);
  if (low.whole > high_whole) return;
  add_edge(low.whole, from, std::nullopt);
  std::vector<std::string> between_wholes;
  add_whole(low.whole + 1, high ? high_whole - 1 : high_whole, between_wholes);
  if (!between_wholes.empty()) out.push_back(any_of(between_wholes) + any_fraction);
  if (high) add_edge(high_whole, std::nullopt, to);
}

}  // namespace

void NumberBounds::raise(double bound, bool exclusive) {
  if (!least || bound > *least || (bound == *least && exclusive)) {
    least = bound;
    above = exclusive;
  }
}

void NumberBounds::lower(double bound, bool exclusive) {
  if (!most || bound < *most || (bound == *most && exclusive)) {
    most = bound;
    below = exclusive;
  }
}

Result<std::optional<std::string>> integer_expression(const NumberBounds& bounds) {
  if (!bounds.any()) return "integer";
  WEFT_ASSIGN(const auto range, whole_range(bounds));
  if (!range) return std::nullopt;
  std::vector<std::string> parts, negative;
  if (range->high >= 0) add_whole(std::max<std::int64_t>(range->low, 0), range->high, parts);
  if (range->low < 0) {
    add_whole(std::max<std::int64_t>(1, -range->high), -range->low, negative);
    parts.push_back("\"-\" " + any_of(negative));
  }
  return any_of(parts);
}

Result<std::optional<std::string>> number_expression(const NumberBounds& bounds) {
  if (!bounds.any()) return "number";
  if (bounds.least && bounds.most &&
      (*bounds.least > *bounds.most ||
       (*bounds.least == *bounds.most && (bounds.above || bounds.below))))
    return std::nullopt;
  std::vector<std::string> parts, negative;
  if (!bounds.most || *bounds.most > 0 || (*bounds.most == 0 && !bounds.below)) {
    const bool from_zero = !bounds.least || *bounds.least < 0;
    WEFT_ASSIGN(const Decimal low, decimal_of(from_zero ? 0 : *bounds.least));
    std::optional<Decimal> high;
    if (bounds.most && *bounds.most < static_cast<double>(integer_max)) {
      WEFT_ASSIGN(high, decimal_of(*bounds.most));
    }
    add_magnitudes(low, !from_zero && bounds.above, high, bounds.below, parts);
  }
  if (!bounds.least || *bounds.least < 0) {
    // Negative numbers exclude zero, because zero is written without a sign.
    const bool to_zero = !bounds.most || *bounds.most >= 0;
    WEFT_ASSIGN(const Decimal low, decimal_of(to_zero ? 0 : -*bounds.most));
    std::optional<Decimal> high;
    if (bounds.least && -*bounds.least < static_cast<double>(integer_max)) {
      WEFT_ASSIGN(high, decimal_of(-*bounds.least));
    }
    add_magnitudes(low, to_zero || bounds.below, high, bounds.above, negative);
    if (!negative.empty()) parts.push_back("\"-\" " + any_of(negative));
  }
  if (parts.empty()) return std::nullopt;
  return any_of(parts);
}

Result<std::optional<std::string>> multiple_expression(const NumberBounds& bounds,
                                                       std::int64_t divisor, Rules& rules) {
  constexpr std::int64_t listed_max = 1000, divisor_max = 16;
  if (bounds.least && bounds.most) {
    WEFT_ASSIGN(const auto range, whole_range(bounds));
    if (!range) return std::nullopt;
    if ((range->high - range->low) / divisor >= listed_max)
      return fail(ErrorCode::unsupported, "with bounds that allow more than {} numbers",
                  listed_max);
    std::vector<std::string> listed;
    for (std::int64_t value = range->low; value <= range->high; ++value) {
      if (value % divisor != 0) continue;
      listed.push_back(literal(std::to_string(value)));
      value += divisor - 1;
    }
    if (listed.empty()) return std::nullopt;
    return any_of(listed);
  }
  if (bounds.any()) return fail(ErrorCode::unsupported, "with only one bound");
  if (divisor > divisor_max)
    return fail(ErrorCode::unsupported, "above {} without bounds", divisor_max);
  // There is one rule for each pair of the remainder of the digits so far and the number of digits
  // that may follow.
  std::vector<std::string> shorter(static_cast<std::size_t>(divisor)), next = shorter;
  const auto steps = [&](std::int64_t remainder, char first) {
    std::vector<std::string> out;
    for (char digit = first; digit <= '9'; ++digit) {
      const std::string& rest =
          shorter[static_cast<std::size_t>((remainder * 10 + (digit - '0')) % divisor)];
      if (!rest.empty()) out.push_back(digit_class(digit, digit) + " " + rest);
    }
    return out;
  };
  shorter[0] = "\"\"";
  for (int left = 1; left < digits_max; ++left) {
    for (std::int64_t remainder = 0; remainder < divisor; ++remainder) {
      std::vector<std::string> choices = steps(remainder, '0');
      if (remainder == 0) choices.emplace_back("\"\"");
      next[static_cast<std::size_t>(remainder)] =
          choices.empty() ? "" : rules.define(any_of(choices));
    }
    std::swap(shorter, next);
  }
  return "(\"0\" | \"-\"? " + any_of(steps(0, '1')) + ")";
}

}  // namespace weft::schema
