#include <charconv>

#include "apps/cli/settlement/options.h"
#include "common/base/format.h"

namespace weft::cli {
namespace {

constexpr std::uint64_t micro = 1'000'000;

bool digits_to(std::string_view text, std::uint64_t& out) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
  return !text.empty() && read.ec == std::errc() && read.ptr == text.data() + text.size();
}

}  // namespace

Result<std::uint64_t> parse_credits(const std::string& text) {
  const std::string_view all(text);
  const std::size_t point = all.find('.');
  const std::string_view behind = point == std::string_view::npos ? "" : all.substr(point + 1);
  std::uint64_t whole = 0, part = 0;
  const bool good =
      digits_to(all.substr(0, point), whole) && whole <= 1'000'000'000'000 &&
      (point == std::string_view::npos || (behind.size() <= 6 && digits_to(behind, part)));
  if (!good)
    return fail(ErrorCode::invalid_argument,
                "\"{}\" is not an amount of credits, such as 12 or 0.5, with six digits behind the "
                "point at most and not above 10^12.",
                text.substr(0, 100));
  for (std::size_t i = behind.size(); i < 6; ++i) part *= 10;
  return whole * micro + part;
}

std::string credits_text(std::uint64_t micro_credits) {
  return weft::format("{}.{:06} credits", micro_credits / micro, micro_credits % micro);
}

std::string sol_text(std::uint64_t lamports) {
  return weft::format("{}.{:09} SOL", lamports / 1'000'000'000, lamports % 1'000'000'000);
}

Result<PublicKey> parse_key(const std::string& text, std::string_view what) {
  const auto key = PublicKey::parse(text.substr(0, 100));
  if (!key)
    return fail(ErrorCode::invalid_argument, "\"{}\" is not the key of {}.", text.substr(0, 100),
                what);
  return *key;
}

}  // namespace weft::cli
