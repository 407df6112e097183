// The kind of value that an option or argument takes, read from its CLI11 type name and checks.
// Used for completion, for the help and for messages about refused values.
//
// An option for a file or a folder that need not exist has type_name("FILE") or type_name("DIR").
// An option for one of several words has type_name("{a,b}").
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
  std::vector<std::string> values;  // Allowed words if the kind is one_of.
  std::string least, most;          // Bounds of numbers; empty means no bound.
  bool above = false;               // The value must be greater than `least`.

  [[nodiscard]] static OptionKind of(const CLI::Option& option);
  // Describes the value: "a file", "a number from 0 to 1", "one of f32 and f16".
  [[nodiscard]] std::string text() const;
};

}  // namespace weft::cli
