// What must be known of a stranger's shader before it runs and what no WebGPU call tells: the workgroup size of an entry
// point, from which a task's origin in invocations follows.
//
// This is no WGSL parser. It reads tokens once, skips comments, and understands `override` and `const` declarations at
// module scope and the attributes in front of `fn`. @workgroup_size takes integer expressions of literals, those constants,
// + - * / % and parentheses; for anything else the answer is an error that says what it met, and the caller decides
// whether it needs to know. The compiler has the last word on everything.
// Bounds: linear in the text; nesting of parentheses and chains of constants at most 32 deep.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace weft::exec {

struct WgslOverride {
  std::string name;
  std::string id;  // "7" for @id(7), else empty.
};

class WgslScan {
 public:
  explicit WgslScan(std::string_view wgsl);
  WgslScan(const WgslScan&) = delete;

  [[nodiscard]] const std::vector<WgslOverride>& overrides() const { return overrides_; }
  // True for an override of this name, or with this @id.
  [[nodiscard]] bool has_override(std::string_view key) const;
  // The size of a @compute entry point with these values of overrides. Fails with invalid_argument.
  [[nodiscard]] Result<std::array<std::uint32_t, 3>> workgroup_size(std::string_view entry, const std::map<std::string, double>& constants) const;

 private:
  struct Declaration {
    std::string_view name;
    std::string id;
    bool is_override = false;
    std::vector<std::string_view> value;  // Tokens of the initialiser; none for an override that must be given.
  };
  struct EntryPoint {
    std::string_view name;
    std::vector<std::vector<std::string_view>> size;  // One expression a dimension, as tokens.
  };
  class Evaluator;

  void read(const std::vector<std::string_view>& tokens);

  const std::string text_;  // What the views below look into.
  std::vector<Declaration> declarations_;
  std::vector<EntryPoint> entry_points_;
  std::vector<WgslOverride> overrides_;
};

}  // namespace weft::exec
