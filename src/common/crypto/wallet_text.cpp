#include "common/crypto/wallet_text.h"

#include <algorithm>

#include "common/json/json.h"

namespace weft::crypto {
namespace {

constexpr std::size_t wallet_numbers = 64;

}  // namespace

std::string wallet_text(const WalletNumbers& wallet) {
  std::string text = "[";
  const auto add = [&](std::uint8_t number) {
    text += (text.size() > 1 ? "," : "") + std::to_string(number);
  };
  std::ranges::for_each(wallet.seed, add);
  std::ranges::for_each(wallet.public_key.bytes, add);
  return text + "]";
}

Result<WalletNumbers> parse_wallet_text(std::string_view text) {
  WEFT_ASSIGN(const json::Value root, json::parse(text, {.bytes_max = 4096, .depth_max = 1}));
  WEFT_ASSIGN(const std::vector<json::Value> numbers, root.array({.count_max = wallet_numbers}));
  if (numbers.size() != wallet_numbers)
    return root.error("a wallet has {} numbers, this one {}", wallet_numbers, numbers.size());
  WalletNumbers wallet;
  for (std::size_t i = 0; i < wallet_numbers; ++i) {
    WEFT_ASSIGN(const auto number, numbers[i].integer_as<std::uint8_t>());
    (i < wallet.seed.size() ? wallet.seed[i] : wallet.public_key.bytes[i - wallet.seed.size()]) =
        number;
  }
  return wallet;
}

}  // namespace weft::crypto
