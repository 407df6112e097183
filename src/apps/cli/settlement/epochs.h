// What the commands about epochs share.
#pragma once

#include <filesystem>
#include <vector>

#include "apps/cli/settlement/line.h"
#include "common/base/result.h"
#include "common/solana/owner_rows.h"
#include "common/solana/sum_tree.h"

namespace weft::cli {

// The rows of a file, in its order.
[[nodiscard]] Result<std::vector<solana::Earned>> epoch_rows(const std::filesystem::path& path);
// What of the rows' amounts is emission, since the start.
[[nodiscard]] std::uint64_t emission_in(std::span<const solana::Earned> rows);
// What an epoch may emit, in micro-credits.
[[nodiscard]] std::uint64_t emission_left(const SettlementLine& line, std::uint64_t epoch);
// As the program takes a path: 40 bytes for each level.
[[nodiscard]] ByteVector path_bytes(const solana::SumPath& path);

}  // namespace weft::cli
