// How a benchmark of rows ends: as a table, as { "rows": [...] }, or with what stopped it.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include <glaze/glaze.hpp>

#include "apps/cli/exit_code.h"
#include "common/base/result.h"

namespace weft::cli {

// Gives the exit code of `command`.
template <class Row>
int report_rows(const char* command, const Result<std::vector<Row>>& rows, bool json, void (*print_table)(const std::vector<Row>&)) {
  if (!rows) return report(command, rows.error());
  if (!json) {
    print_table(*rows);
    return 0;
  }
  const auto text = glz::write_json(*rows);
  if (!text) return report(command, Error{ErrorCode::internal, "The results cannot be written as JSON."});
  std::printf("{\"rows\":%s}\n", text->c_str());
  return 0;
}

}  // namespace weft::cli
