// What benchmarks of rows have in common: which rows are wanted, what many rounds come to, and how
// it all ends.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <glaze/glaze.hpp>

#include "apps/cli/exit_code.h"
#include "common/base/result.h"

namespace weft::cli {

// Whether `only` (empty: everything) names the row or a group that it belongs to: "shards" wants
// shards/2, "recovery/memory" wants recovery.
[[nodiscard]] bool wants_row(const std::vector<std::string>& only, std::string_view row);

struct Spread {
  double median = 0, min = 0, max = 0;
};
// Zeros if there are no values.
[[nodiscard]] Spread spread(std::vector<double> values);
// `share` in [0, 1]. Of no values: 0.
[[nodiscard]] double percentile(std::vector<double> values, double share);

// A table, { "rows": [...] }, or what stopped it; the exit code of `command`.
template <class Row>
int report_rows(const char* command, const Result<std::vector<Row>>& rows, bool json,
                void (*print_table)(const std::vector<Row>&)) {
  if (!rows) return report(command, rows.error());
  if (!json) {
    print_table(*rows);
    return 0;
  }
  const auto text = glz::write_json(*rows);
  if (!text)
    return report(command, Error{ErrorCode::internal, "The results cannot be written as JSON."});
  std::printf("{\"rows\":%s}\n", text->c_str());
  return 0;
}

}  // namespace weft::cli
