#include "apps/coordinator/http/query_number.h"

#include <charconv>

namespace weft::coordinator {

Result<std::uint64_t> query_number(const net::IncomingRequest& request, const std::string& name,
                                   const QueryBounds& bounds) {
  const auto given = request.query.find(name);
  if (given == request.query.end()) return bounds.otherwise;
  const std::string& text = given->second;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < bounds.least ||
      value > bounds.most)
    return fail(ErrorCode::invalid_argument, "{}={} is not a number from {} to {}.", name, text,
                bounds.least, bounds.most);
  return value;
}

}  // namespace weft::coordinator
