#include "apps/bench/bench_rows.h"

#include <algorithm>

namespace weft::cli {

bool wants_row(const std::vector<std::string>& only, std::string_view row) {
  return only.empty() || std::ranges::any_of(only, [&](const std::string& name) {
           return row.starts_with(name) || name.starts_with(row);
         });
}

Spread spread(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  return {.median = values[values.size() / 2], .min = values.front(), .max = values.back()};
}

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

}  // namespace weft::cli
