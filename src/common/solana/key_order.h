// The order of addresses within a class of a message's keys: that of their base58 text in an
// English collation, as @solana/kit sorts them. The runtime requires no order; with the same order
// both libraries make the same bytes.
#pragma once

#include <string_view>

namespace weft::solana {

// True if `a` comes before `b`. Letters are compared without regard to case first (digits before
// letters). Among equal texts a small letter comes before its capital, at the first place where
// they differ.
[[nodiscard]] bool text_before(std::string_view a, std::string_view b);

}  // namespace weft::solana
