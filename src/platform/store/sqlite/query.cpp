#include "platform/store/sqlite/query.h"

namespace weft::store::sqlite {

std::string prefixed(std::string_view table, std::string_view columns) {
  std::string all(table);
  all += '.';
  for (const char c : columns) {
    all += c;
    if (c == ' ') all += std::string(table) + ".";
  }
  return all;
}

Result<std::int64_t> job_row(Connection& connection, const JobId& id) {
  WEFT_ASSIGN(const auto found,
              rows<std::int64_t>(
                  connection, "SELECT seq FROM jobs WHERE id = ?",
                  [](const Statement& row) -> Result<std::int64_t> { return row.integer(0); }, id));
  if (found.empty()) return fail(ErrorCode::not_found, "There is no job {}.", id.text());
  return found.front();
}

}  // namespace weft::store::sqlite
