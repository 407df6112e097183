// A number in a request's query: "?from=100&count=50".
//
//   WEFT_ASSIGN(const std::uint64_t count, query_number(request, "count", {.otherwise = 100,
//                                                                         .least = 1,
//                                                                         .most = 1000}));
//
// Pure.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/result.h"
#include "platform/net/http.h"

namespace weft::coordinator {

struct QueryBounds {
  std::uint64_t otherwise = 0;  // The value if the query has no such number.
  std::uint64_t least = 0;
  std::uint64_t most = 0;
};
// Fails with invalid_argument if the value is not a number within the bounds.
[[nodiscard]] Result<std::uint64_t> query_number(const net::IncomingRequest& request,
                                                 const std::string& name,
                                                 const QueryBounds& bounds);

}  // namespace weft::coordinator
