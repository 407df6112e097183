// What must be known of a stranger's shader before it runs and what no WebGPU call tells: the
// workgroup size of an entry point, from which a task's origin in invocations follows; and where
// things stand, for sentences about them.
//
// This is no WGSL parser. It reads tokens once, skips comments, and understands `override` and
// `const` declarations at module scope and the attributes before `fn` and `var`.
// @workgroup_size takes integer expressions of literals, those constants,
// + - * / % and parentheses; for anything else the answer is an error that says what it met, and
// the caller decides whether it needs to know. The compiler has the last word on everything.
// Bounds: linear in the text; nesting of parentheses and chains of constants at most 32 deep.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace weft::exec {

struct WgslOverride {
  std::string name;
  std::string id;  // "7" for @id(7), else empty.
};

// Counted from 1; columns in bytes, as the compiler counts them.
struct WgslPlace {
  std::size_t line = 0;
  std::size_t column = 0;
};

class WgslScan {
 public:
  explicit WgslScan(std::string_view wgsl);
  WgslScan(const WgslScan&) = delete;

  [[nodiscard]] const std::vector<WgslOverride>& overrides() const { return overrides_; }
  // True for an override of this name, or with this @id.
  [[nodiscard]] bool has_override(std::string_view key) const;
  // The size of a @compute entry point with these values of overrides. Fails with invalid_argument.
  [[nodiscard]] Result<std::array<std::uint32_t, 3>> workgroup_size(
      std::string_view entry, const std::map<std::string, double>& constants) const;

  // Names of the @compute entry points, in their order.
  [[nodiscard]] std::vector<std::string_view> entry_points() const;
  // Where it is declared, its attributes included; of a group: its first binding.
  [[nodiscard]] std::optional<WgslPlace> place_of_binding(std::uint32_t group,
                                                          std::uint32_t binding) const;
  [[nodiscard]] std::optional<WgslPlace> place_of_group(std::uint32_t group) const;
  // Where its "fn" stands.
  [[nodiscard]] std::optional<WgslPlace> place_of_function(std::string_view name) const;

 private:
  struct Declaration {
    std::string_view name;
    std::string id;
    bool is_override = false;
    // Tokens of the initialiser; none for an override that must be given.
    std::vector<std::string_view> value;
  };
  struct EntryPoint {
    std::string_view name;
    std::vector<std::vector<std::string_view>> size;  // One expression a dimension, as tokens.
  };
  struct Binding {
    std::optional<std::int64_t> group, binding;
    std::string_view at;  // Its first token.
  };
  struct Function {
    std::string_view name;
    std::string_view at;
  };
  class Evaluator;

  [[nodiscard]] WgslPlace place_of(std::string_view token) const;
  void read(const std::vector<std::string_view>& tokens);

  const std::string text_;  // What the views below look into.
  std::vector<Declaration> declarations_;
  std::vector<EntryPoint> entry_points_;
  std::vector<Binding> bindings_;
  std::vector<Function> functions_;
  std::vector<WgslOverride> overrides_;
};

}  // namespace weft::exec
