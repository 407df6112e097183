#include "engine/exec/wgsl_scan.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

namespace weft::exec {

namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Splits the text into words, numbers and single characters, without comments and white space. An
// operator of several characters becomes several tokens, because no rule of WgslScan depends on it.
std::vector<std::string_view> tokenize(std::string_view text) {
  std::vector<std::string_view> tokens;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t start = i;
    if (text.substr(i, 2) == "//") {
      while (i < text.size() && text[i] != '\n') ++i;
    } else if (text.substr(i, 2) == "/*") {
      // Block comments nest in WGSL.
      std::size_t depth = 0;
      do {
        if (text.substr(i, 2) == "/*") {
          ++depth;
          i += 2;
        } else if (text.substr(i, 2) == "*/") {
          --depth;
          i += 2;
        } else {
          ++i;
        }
      } while (depth > 0 && i < text.size());
    } else if (is_letter(text[i]) || is_digit(text[i])) {
      while (i < text.size() && (is_letter(text[i]) || is_digit(text[i]))) ++i;
      tokens.push_back(text.substr(start, i - start));
    } else if (text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r') {
      ++i;
    } else {
      tokens.push_back(text.substr(i++, 1));
    }
  }
  return tokens;
}

std::optional<std::int64_t> integer_literal(std::string_view token) {
  if (token.empty() || !is_digit(token.front())) return std::nullopt;
  if (token.back() == 'u' || token.back() == 'i') token.remove_suffix(1);
  int base = 10;
  if (token.starts_with("0x") || token.starts_with("0X")) {
    token.remove_prefix(2);
    base = 16;
  }
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(token.data(), token.data() + token.size(), value, base);
  if (code != std::errc() || end != token.data() + token.size() || value > 0xffffffff)
    return std::nullopt;
  return value;
}

}  // namespace

// Evaluates one expression by recursive descent over its tokens.
class WgslScan::Evaluator {
 public:
  Evaluator(const WgslScan& scan, const std::map<std::string, double>& constants)
      : scan_(scan), constants_(constants) {}

  Result<std::int64_t> evaluate(std::span<const std::string_view> tokens) {
    // The limit on expressions is needed because the work doubles with every constant of a chain in
    // which each constant uses the previous one twice.
    if (++depth_ > depth_max || ++expressions_ > expressions_max)
      return fail(ErrorCode::invalid_argument, "it is nested too deep");
    const auto outer_tokens = std::exchange(tokens_, tokens);
    const auto outer_at = std::exchange(at_, 0);
    auto value = sum();
    if (value && at_ != tokens_.size())
      value = fail(ErrorCode::invalid_argument, "'{}' is not understood there", tokens_[at_]);
    tokens_ = outer_tokens;
    at_ = outer_at;
    --depth_;
    return value;
  }

 private:
  static constexpr int depth_max = 32;
  static constexpr int expressions_max = 1000;

  [[nodiscard]] std::string_view peek() const {
    return at_ < tokens_.size() ? tokens_[at_] : std::string_view();
  }

  Result<std::int64_t> sum() {
    WEFT_ASSIGN(std::int64_t value, product());
    while (peek() == "+" || peek() == "-") {
      const bool minus = tokens_[at_++] == "-";
      WEFT_ASSIGN(const std::int64_t right, product());
      value = minus ? value - right : value + right;
      WEFT_OK(bounded(value));
    }
    return value;
  }
  Result<std::int64_t> product() {
    WEFT_ASSIGN(std::int64_t value, term());
    while (peek() == "*" || peek() == "/" || peek() == "%") {
      const char sign = tokens_[at_++].front();
      WEFT_ASSIGN(const std::int64_t right, term());
      if (sign != '*' && right == 0) return fail(ErrorCode::invalid_argument, "it divides by 0");
      if (sign == '*' && right != 0 && std::abs(value) > 0xffffffff / std::abs(right))
        return fail(ErrorCode::invalid_argument, "it passes 32 bits");
      value = sign == '*' ? value * right : sign == '/' ? value / right : value % right;
    }
    return value;
  }
  Result<std::int64_t> term() {
    const std::string_view token = peek();
    if (token.empty()) return fail(ErrorCode::invalid_argument, "it ends early");
    ++at_;
    if (token == "(") {
      if (++depth_ > depth_max) return fail(ErrorCode::invalid_argument, "it is nested too deep");
      WEFT_ASSIGN(const std::int64_t value, sum());
      --depth_;
      if (peek() != ")") return fail(ErrorCode::invalid_argument, "a ')' is missing");
      ++at_;
      return value;
    }
    if (const auto literal = integer_literal(token)) return *literal;
    // u32(x) and i32(x) are read as x: they change no value that a workgroup size may have.
    if ((token == "u32" || token == "i32") && peek() == "(") return term();
    return named(token);
  }
  Result<std::int64_t> named(std::string_view name) {
    const auto declaration = std::ranges::find(scan_.declarations_, name, &Declaration::name);
    if (declaration == scan_.declarations_.end())
      return fail(ErrorCode::invalid_argument, "'{}' is not understood", name);
    if (declaration->is_override) {
      for (const std::string& key : {std::string(name), declaration->id}) {
        const auto given = key.empty() ? constants_.end() : constants_.find(key);
        if (given == constants_.end()) continue;
        if (given->second != std::floor(given->second) || std::abs(given->second) > 0xffffffff) {
          return fail(ErrorCode::invalid_argument, "'{}' is not a whole number", name);
        }
        return static_cast<std::int64_t>(given->second);
      }
      if (declaration->value.empty())
        return fail(ErrorCode::invalid_argument, "the override '{}' has no value", name);
    }
    return evaluate(declaration->value);
  }
  static Result<> bounded(std::int64_t value) {
    if (value > 0xffffffff || value < -0xffffffffLL)
      return fail(ErrorCode::invalid_argument, "it passes 32 bits");
    return {};
  }

  const WgslScan& scan_;
  const std::map<std::string, double>& constants_;
  std::span<const std::string_view> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
  int expressions_ = 0;
};

WgslScan::WgslScan(std::string_view wgsl) : text_(wgsl) { read(tokenize(text_)); }

void WgslScan::read(const std::vector<std::string_view>& tokens) {
  using Tokens = std::vector<std::string_view>;
  const auto at = [&](std::size_t i) { return i < tokens.size() ? tokens[i] : std::string_view(); };
  // Returns the tokens between the parenthesis at `i` and its match, and moves `i` past the match.
  const auto parenthesised = [&](std::size_t& i) {
    Tokens inside;
    std::size_t depth = 0;
    for (; i < tokens.size(); ++i) {
      if (tokens[i] == ")" && --depth == 0) break;
      if (depth > 0) inside.push_back(tokens[i]);
      if (tokens[i] == "(") ++depth;
    }
    ++i;
    return inside;
  };
  std::size_t braces = 0;
  std::string id;            // The argument of the last @id.
  std::vector<Tokens> size;  // The arguments of the last @workgroup_size.
  Binding binding;           // The last @group and @binding.
  for (std::size_t i = 0; i < tokens.size();) {
    const std::string_view token = tokens[i];
    if (token == "{") {
      ++braces;
    } else if (token == "}" && braces > 0) {
      --braces;
    }
    if (braces > 0) {
      ++i;
      continue;
    }
    if (token == "@" && at(i + 2) == "(") {
      const std::string_view attribute = at(i + 1);
      if (attribute == "group" || attribute == "binding") {
        if (binding.at.empty()) binding.at = token;
      }
      i += 2;
      const Tokens inside = parenthesised(i);
      if (attribute == "id" && inside.size() == 1) {
        const auto number = integer_literal(inside[0]);
        id = number ? std::to_string(*number) : "";
      } else if ((attribute == "group" || attribute == "binding") && inside.size() == 1) {
        (attribute == "group" ? binding.group : binding.binding) = integer_literal(inside[0]);
      } else if (attribute == "workgroup_size") {
        size.assign(1, {});
        std::size_t depth = 0;
        for (const std::string_view part : inside) {
          if (part == "(") ++depth;
          if (part == ")") --depth;
          if (part == "," && depth == 0) {
            size.emplace_back();
          } else {
            size.back().push_back(part);
          }
        }
        if (size.back().empty()) size.pop_back();  // Drops the empty part after a trailing comma.
      }
      continue;
    }
    if (token == "override" || token == "const") {
      Declaration declaration{.name = at(i + 1),
                              .id = std::exchange(id, ""),
                              .is_override = token == "override",
                              .value = {}};
      bool value = false;
      for (i += 2; i < tokens.size() && tokens[i] != ";"; ++i) {
        if (value) declaration.value.push_back(tokens[i]);
        if (tokens[i] == "=") value = true;
      }
      if (declaration.is_override)
        overrides_.push_back({.name = std::string(declaration.name), .id = declaration.id});
      declarations_.push_back(std::move(declaration));
      continue;
    }
    if (token == "fn") {
      functions_.push_back({.name = at(i + 1), .at = token});
      if (!size.empty())
        entry_points_.push_back({.name = at(i + 1), .size = std::exchange(size, {})});
      i += 2;
      continue;
    }
    if (token == "var" && !binding.at.empty()) bindings_.push_back(std::exchange(binding, {}));
    if (token == ";") id.clear();
    ++i;
  }
}

bool WgslScan::has_override(std::string_view key) const {
  return std::ranges::any_of(overrides_, [&](const WgslOverride& override_) {
    return override_.name == key || override_.id == key;
  });
}

std::vector<std::string_view> WgslScan::entry_points() const {
  std::vector<std::string_view> names;
  for (const EntryPoint& entry : entry_points_) names.push_back(entry.name);
  return names;
}

WgslPlace WgslScan::place_of(std::string_view token) const {
  const std::string_view before =
      std::string_view(text_).substr(0, static_cast<std::size_t>(token.data() - text_.data()));
  const auto last_end = before.rfind('\n');
  return {.line = static_cast<std::size_t>(std::ranges::count(before, '\n')) + 1,
          .column = before.size() - (last_end == std::string_view::npos ? 0 : last_end + 1) + 1};
}

std::optional<WgslPlace> WgslScan::place_of_binding(std::uint32_t group,
                                                    std::uint32_t binding) const {
  const auto found = std::ranges::find_if(
      bindings_, [&](const Binding& one) { return one.group == group && one.binding == binding; });
  return found == bindings_.end() ? std::nullopt : std::optional(place_of(found->at));
}

std::optional<WgslPlace> WgslScan::place_of_group(std::uint32_t group) const {
  const auto found =
      std::ranges::find_if(bindings_, [&](const Binding& one) { return one.group == group; });
  return found == bindings_.end() ? std::nullopt : std::optional(place_of(found->at));
}

std::optional<WgslPlace> WgslScan::place_of_function(std::string_view name) const {
  const auto found = std::ranges::find(functions_, name, &Function::name);
  return found == functions_.end() ? std::nullopt : std::optional(place_of(found->at));
}

Result<std::array<std::uint32_t, 3>> WgslScan::workgroup_size(
    std::string_view entry, const std::map<std::string, double>& constants) const {
  const auto entry_point = std::ranges::find(entry_points_, entry, &EntryPoint::name);
  if (entry_point == entry_points_.end())
    return fail(ErrorCode::invalid_argument,
                "The shader has no entry point '{}' with a @workgroup_size.", entry);
  std::array<std::uint32_t, 3> size{1, 1, 1};
  for (std::size_t i = 0; i < entry_point->size.size(); ++i) {
    const auto value = i < 3 ? Evaluator(*this, constants).evaluate(entry_point->size[i])
                             : Result<std::int64_t>(0);
    if (!value)
      return fail(ErrorCode::invalid_argument, "The @workgroup_size of '{}' cannot be told: {}.",
                  entry, value.error().message);
    if (*value < 1 || *value > 65535)
      return fail(ErrorCode::invalid_argument, "The @workgroup_size of '{}' is out of range: {}.",
                  entry, *value);
    size[i] = static_cast<std::uint32_t>(*value);
  }
  return size;
}

}  // namespace weft::exec
