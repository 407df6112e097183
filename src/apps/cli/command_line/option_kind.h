// What an option or argument takes, read from what CLI11 was told of it: its type name and its
// checks. For completion, for the help and for sentences about values that are refused.
//
// Options that take a file or a folder without a check that it is there say so by type_name("FILE")
// and type_name("DIR"), those that take one of some words by type_name("{a,b}").
#pragma once

#include <string>
#include <vector>

namespace CLI {
class Option;
}

namespace weft::cli {

struct OptionKind {
  enum class What { flag, text, file, folder, one_of, whole_number, number };
  What what = What::text;
  std::vector<std::string> values;  // one_of
  std::string least, most;          // Bounds of numbers; empty if there is no bound.
  bool above = false;               // `least` itself is not taken.

  [[nodiscard]] static OptionKind of(const CLI::Option& option);
  // "a file", "a number from 0 to 1", "one of f32 and f16".
  [[nodiscard]] std::string text() const;
};

}  // namespace weft::cli
