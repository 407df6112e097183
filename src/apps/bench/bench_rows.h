// Shared by benchmarks that report rows: the selection of rows, statistics of rounds, and the
// report.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <glaze/glaze.hpp>

#include "apps/cli/exit_code.h"
#include "common/base/result.h"

namespace weft::cli {

// True if `only` is empty or names the row or its group: "shards" selects shards/2, and
// "recovery/memory" selects recovery.
[[nodiscard]] bool wants_row(const std::vector<std::string>& only, std::string_view row);

struct Spread {
  double median = 0, min = 0, max = 0;
};
// The median and extremes; zeros if there are no values.
[[nodiscard]] Spread spread(std::vector<double> values);
// The percentile for `share` in [0, 1]; 0 if there are no values.
[[nodiscard]] double percentile(std::vector<double> values, double share);

// Prints a table, { "rows": [...] }, or the error. Returns the exit code of `command`.
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
