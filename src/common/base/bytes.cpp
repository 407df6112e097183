#include "common/base/bytes.h"

#include <algorithm>

namespace weft {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";
constexpr std::string_view base58_digits =
    "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
constexpr std::string_view base64_digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::size_t base58_chars_max = 128;

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

constexpr std::array<std::int8_t, 256> reverse(std::string_view digits) {
  std::array<std::int8_t, 256> table{};
  table.fill(-1);
  for (std::size_t i = 0; i < digits.size(); ++i)
    table[static_cast<std::uint8_t>(digits[i])] = static_cast<std::int8_t>(i);
  return table;
}
constexpr auto base58_values = reverse(base58_digits);
constexpr auto base64_values = reverse(base64_digits);

}  // namespace

std::string to_hex(ByteSpan bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (std::uint8_t byte : bytes) {
    text.push_back(hex_digits[byte >> 4]);
    text.push_back(hex_digits[byte & 15]);
  }
  return text;
}

Result<ByteVector> from_hex(std::string_view text) {
  if (text.size() % 2 != 0)
    return fail(ErrorCode::invalid_argument, "Hex text has an odd length ({}).", text.size());
  ByteVector bytes(text.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const int high = hex_value(text[2 * i]);
    const int low = hex_value(text[2 * i + 1]);
    if (high < 0 || low < 0)
      return fail(ErrorCode::invalid_argument,
                  "Hex text holds a character that is not a hex digit at position {}.", 2 * i);
    bytes[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return bytes;
}

namespace {

// Base 58 is computed in groups of five digits against limbs of 32 bits, which takes a twentieth of
// the steps of single digits.
constexpr std::size_t base58_group = 5;
constexpr std::uint32_t base58_group_value = 58U * 58 * 58 * 58 * 58;

}  // namespace

std::string to_base58(ByteSpan bytes) {
  std::size_t zeros = 0;
  while (zeros < bytes.size() && bytes[zeros] == 0) ++zeros;
  // Limbs of 32 bits, the most significant first.
  std::vector<std::uint32_t> limbs((bytes.size() - zeros + 3) / 4);
  for (std::size_t i = zeros; i < bytes.size(); ++i) {
    const std::size_t from_end = bytes.size() - 1 - i;
    limbs[limbs.size() - 1 - from_end / 4] |= static_cast<std::uint32_t>(bytes[i])
                                              << (8 * (from_end % 4));
  }
  std::string reversed;
  for (std::size_t first = 0; first < limbs.size();) {
    std::uint64_t rest = 0;
    for (std::size_t i = first; i < limbs.size(); ++i) {
      rest = rest << 32 | limbs[i];
      limbs[i] = static_cast<std::uint32_t>(rest / base58_group_value);
      rest %= base58_group_value;
    }
    for (std::size_t digit = 0; digit < base58_group; ++digit, rest /= 58)
      reversed.push_back(base58_digits[rest % 58]);
    while (first < limbs.size() && limbs[first] == 0) ++first;
  }
  while (!reversed.empty() && reversed.back() == base58_digits[0])
    reversed.pop_back();  // Drops the zeros that pad the last group.
  return std::string(zeros, base58_digits[0]) + std::string(reversed.rbegin(), reversed.rend());
}

Result<ByteVector> from_base58(std::string_view text) {
  if (text.size() > base58_chars_max) {
    return fail(ErrorCode::invalid_argument,
                "Base58 text is {} characters long; at most {} are read.", text.size(),
                base58_chars_max);
  }
  std::size_t zeros = 0;
  while (zeros < text.size() && text[zeros] == '1') ++zeros;
  std::vector<std::uint32_t> limbs;  // Limbs of 32 bits, the least significant first.
  for (std::string_view left = text.substr(zeros); !left.empty();
       left.remove_prefix(std::min(base58_group, left.size()))) {
    std::uint64_t carry = 0;
    std::uint64_t times = 1;
    for (const char c : left.substr(0, base58_group)) {
      // NOLINTNEXTLINE(bugprone-signed-char-misuse): a number, not a character.
      const auto value = static_cast<int>(base58_values[static_cast<std::uint8_t>(c)]);
      if (value < 0)
        return fail(ErrorCode::invalid_argument,
                    "Base58 text holds a character that is not a base58 digit.");
      carry = carry * 58 + static_cast<std::uint64_t>(value);
      times *= 58;
    }
    for (std::uint32_t& limb : limbs) {
      carry += limb * times;
      limb = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0) limbs.push_back(static_cast<std::uint32_t>(carry));
  }
  ByteVector bytes(zeros, 0);
  bool leading = true;
  for (std::size_t i = limbs.size() * 4; i-- > 0;) {
    const auto byte = static_cast<std::uint8_t>(limbs[i / 4] >> (8 * (i % 4)));
    leading = leading && byte == 0;
    if (!leading) bytes.push_back(byte);
  }
  return bytes;
}

std::string to_base64(ByteSpan bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = std::min<std::size_t>(3, bytes.size() - i);
    const unsigned group = static_cast<unsigned>(bytes[i]) << 16 |
                           (left > 1 ? static_cast<unsigned>(bytes[i + 1]) << 8 : 0) |
                           (left > 2 ? static_cast<unsigned>(bytes[i + 2]) : 0);
    text.push_back(base64_digits[group >> 18]);
    text.push_back(base64_digits[group >> 12 & 63]);
    text.push_back(left > 1 ? base64_digits[group >> 6 & 63] : '=');
    text.push_back(left > 2 ? base64_digits[group & 63] : '=');
  }
  return text;
}

Result<ByteVector> from_base64(std::string_view text) {
  if (text.size() % 4 != 0)
    return fail(ErrorCode::invalid_argument,
                "Base64 text is {} characters long; its length must be a multiple of 4.",
                text.size());
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  ByteVector bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    const bool last = i + 4 == text.size();
    unsigned group = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const bool pad = last && k >= 4 - padding;
      const int value = pad ? 0 : base64_values[static_cast<std::uint8_t>(text[i + k])];
      if (value < 0)
        return fail(ErrorCode::invalid_argument,
                    "Base64 text holds a character that is not a base64 digit at position {}.",
                    i + k);
      group = group << 6 | static_cast<unsigned>(value);
    }
    const std::size_t kept = last ? 3 - padding : 3;
    if (kept < 3 && (group & (kept == 1 ? 0xffffU : 0xffU)) != 0) {
      return fail(ErrorCode::invalid_argument, "Base64 text ends in bits that belong to no byte.");
    }
    for (std::size_t k = 0; k < kept; ++k)
      bytes.push_back(static_cast<std::uint8_t>(group >> (16 - 8 * k)));
  }
  return bytes;
}

}  // namespace weft
