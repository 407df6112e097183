#include "engine/schema/formats.h"

#include <algorithm>
#include <utility>

namespace weft::schema {
namespace {

// Sources of the patterns: RFC 3339 (date, time, date-time, duration), RFC 9562 (uuid), RFC 5321
// (email, a subset), RFC 1123 (hostname), RFC 3986 (uri, http and https), RFC 2673 and RFC 4291
// (addresses).
constexpr std::pair<std::string_view, std::string_view> patterns[] = {
    {"date",
     "^[0-9]{4}-((01|03|05|07|08|10|12)-(0[1-9]|[12][0-9]|3[01])|(04|06|09|11)-(0[1-9]|[12][0-9]|"
     "30)|"
     "02-(0[1-9]|1[0-9]|2[0-8]))$"},
    {"time",
     "^([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,6})?(Z|[+-](0[0-9]|1[0-3]):[0-5][0-9])"
     "$"},
    {"date-time",
     "^[0-9]{4}-((01|03|05|07|08|10|12)-(0[1-9]|[12][0-9]|3[01])|(04|06|09|11)-(0[1-9]|[12][0-9]|"
     "30)|"
     "02-(0[1-9]|1[0-9]|2[0-8]))T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,6})?(Z|[+-](0["
     "0-9]|1[0-3]):"
     "[0-5][0-9])$"},
    {"duration", "^P([0-9]{1,4}W|[0-9]{1,4}D(T[0-9]{1,4}H([0-9]{1,2}M)?)?|T[0-9]{1,4}[HMS])$"},
    {"uuid", "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"},
    {"email",
     "^[a-z0-9]+([._+-][a-z0-9]+){0,4}@[a-z0-9]{1,30}(-[a-z0-9]{1,20})?(\\.[a-z0-9]{1,20}){0,2}\\.["
     "a-z]{2,6}$"},
    {"hostname", "^[a-z0-9]{1,30}(-[a-z0-9]{1,20}){0,1}(\\.[a-z0-9]{1,30}){0,3}\\.[a-z]{2,6}$"},
    {"ipv4",
     "^((25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\\.){3}(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-"
     "9])$"},
    {"ipv6", "^([0-9a-f]{1,4}:){7}[0-9a-f]{1,4}$"},
    {"uri",
     "^https?://"
     "[a-z0-9]{1,30}(-[a-z0-9]{1,20})?(\\.[a-z0-9]{1,30}){0,3}\\.[a-z]{2,6}(:[1-9][0-9]{1,3})?(/"
     "[A-Za-z0-9._~-]"
     "{1,60}){0,8}/?(\\?[A-Za-z0-9._~=&-]{1,200})?$"}};

}  // namespace

std::optional<std::string_view> format_pattern(std::string_view format) {
  for (const auto& [name, pattern] : patterns)
    if (name == format) return pattern;
  return std::nullopt;
}

bool is_number_format(std::string_view format) {
  constexpr std::string_view names[] = {"int32", "int64", "uint32", "uint64", "float", "double"};
  return std::ranges::contains(names, format);
}

}  // namespace weft::schema
