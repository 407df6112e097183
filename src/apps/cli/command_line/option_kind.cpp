#include "apps/cli/command_line/option_kind.h"

#include <algorithm>
#include <string_view>

#include <CLI/CLI.hpp>

#include "common/base/format.h"

namespace weft::cli {
namespace {

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> out;
  while (true) {
    const auto end = text.find(at);
    out.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

std::string list(const std::vector<std::string>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i)
    out += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  return out;
}

}  // namespace

// Parses type names such as "UINT:INT in [1 - 64]", "TEXT:{gpu,cpu}", "TEXT:FILE",
// "FLOAT:POSITIVE".
OptionKind OptionKind::of(const CLI::Option& option) {
  OptionKind kind;
  if (option.get_items_expected_max() == 0) {
    kind.what = What::flag;
    return kind;
  }
  const std::string type = option.get_type_name();
  const auto opening = type.find('{');
  const auto closing = type.find('}');
  if (opening != std::string::npos && closing != std::string::npos && opening < closing) {
    kind.what = What::one_of;
    kind.values = split(std::string_view(type).substr(opening + 1, closing - opening - 1), ',');
    return kind;
  }
  const std::vector<std::string> words = split(type, ':');
  const auto is = [&](std::string_view word) {
    return std::ranges::find(words, word) != words.end();
  };
  if (words[0] == "UINT" || words[0] == "INT") kind.what = What::whole_number;
  if (words[0] == "FLOAT") kind.what = What::number;
  if (is("FILE")) kind.what = What::file;
  if (is("DIR")) kind.what = What::folder;
  constexpr std::string_view before = " in [", between = " - ";
  const auto range = type.find(before);
  const auto middle =
      range == std::string::npos ? range : type.find(between, range + before.size());
  const auto end = middle == std::string::npos ? middle : type.find(']', middle);
  if (end != std::string::npos) {
    kind.least = type.substr(range + before.size(), middle - range - before.size());
    kind.most = type.substr(middle + between.size(), end - middle - between.size());
  } else if (is("NONNEGATIVE") || is("POSITIVE") || words[0] == "UINT") {
    kind.least = "0";
    kind.above = is("POSITIVE");
  }
  return kind;
}

std::string OptionKind::text() const {
  const auto bounded = [&](std::string_view what_it_is) {
    if (least.empty()) return std::string(what_it_is);
    if (above) return weft::format("{} above {}", what_it_is, least);
    return most.empty() ? weft::format("{} from {} on", what_it_is, least)
                        : weft::format("{} from {} to {}", what_it_is, least, most);
  };
  switch (what) {
    case What::flag:
      return "nothing";
    case What::text:
      break;
    case What::file:
      return "a file";
    case What::folder:
      return "a folder";
    case What::one_of:
      return "one of " + list(values);
    case What::whole_number:
      return bounded("a whole number");
    case What::number:
      return bounded("a number");
  }
  return "a text";
}

}  // namespace weft::cli
