// Reads facts from a shader's text that Weft needs before the shader runs and that no WebGPU call
// gives: the workgroup size of an entry point, from which the origin of a task in invocations
// follows, and the places of declarations, for error messages.
//
// WgslScan is no WGSL parser. It reads the tokens once, skips comments, and understands `override`
// and `const` declarations at module scope and the attributes before `fn` and `var`.
// @workgroup_size may hold integer expressions of literals, of those constants, of the operators +
// - * / % and of parentheses. Any other expression gives an error that names the part that was not
// understood, and the caller decides if it needs the size. The compiler decides if a shader is
// valid. Bounds: the time is linear in the text; parentheses and chains of constants may be nested
// at most 32 deep.
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

// A place in the text. Lines and columns count from 1, and columns count bytes, as the compiler's
// do.
struct WgslPlace {
  std::size_t line = 0;
  std::size_t column = 0;
};

class WgslScan {
 public:
  explicit WgslScan(std::string_view wgsl);
  WgslScan(const WgslScan&) = delete;

  [[nodiscard]] const std::vector<WgslOverride>& overrides() const { return overrides_; }
  // Returns true if the shader has an override of this name or with this @id.
  [[nodiscard]] bool has_override(std::string_view key) const;
  // Returns the workgroup size of a @compute entry point for these values of the overrides. Fails
  // with invalid_argument if the size is not known.
  [[nodiscard]] Result<std::array<std::uint32_t, 3>> workgroup_size(
      std::string_view entry, const std::map<std::string, double>& constants) const;

  // The names of the @compute entry points, in the order of the text.
  [[nodiscard]] std::vector<std::string_view> entry_points() const;
  // The place of a binding's declaration, attributes included. place_of_group() gives the place of
  // the first binding of a group. Both return nothing if the shader has no such declaration.
  [[nodiscard]] std::optional<WgslPlace> place_of_binding(std::uint32_t group,
                                                          std::uint32_t binding) const;
  [[nodiscard]] std::optional<WgslPlace> place_of_group(std::uint32_t group) const;
  // Returns the place of the function's "fn".
  [[nodiscard]] std::optional<WgslPlace> place_of_function(std::string_view name) const;

 private:
  struct Declaration {
    std::string_view name;
    std::string id;
    bool is_override = false;
    // The tokens of the initialiser. Empty for an override without a default value.
    std::vector<std::string_view> value;
  };
  struct EntryPoint {
    std::string_view name;
    // One expression (as tokens) for each dimension.
    std::vector<std::vector<std::string_view>> size;
  };
  struct Binding {
    std::optional<std::int64_t> group, binding;
    std::string_view at;  // The first token of the declaration.
  };
  struct Function {
    std::string_view name;
    std::string_view at;
  };
  class Evaluator;

  [[nodiscard]] WgslPlace place_of(std::string_view token) const;
  void read(const std::vector<std::string_view>& tokens);

  const std::string text_;  // All string views below point into this text.
  std::vector<Declaration> declarations_;
  std::vector<EntryPoint> entry_points_;
  std::vector<Binding> bindings_;
  std::vector<Function> functions_;
  std::vector<WgslOverride> overrides_;
};

}  // namespace weft::exec
