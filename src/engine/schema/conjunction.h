// Schemas that all hold for one value, taken apart: $ref is followed, allOf is opened, and choices
// (anyOf, oneOf) are set aside.
//
// Threading: const. Lifetime: the document outlives all that refers to it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/json/json.h"

namespace weft::schema {

// A schema and where it stands: "#/properties/name".
struct Place {
  json::Value value;
  std::string pointer;
};

struct Choice {
  std::string pointer;     // JSON pointer to its keyword.
  bool exclusive = false;  // oneOf.
  std::vector<Place> options;
  std::vector<std::string> path;  // The schemas that led to it.
};

// The keywords of one schema that remain after references, allOf, anyOf and oneOf are resolved.
struct Keywords {
  std::string pointer;
  std::map<std::string, json::Value> values;

  [[nodiscard]] const json::Value* find(const std::string& key) const {
    const auto found = values.find(key);
    return found == values.end() ? nullptr : &found->second;
  }
};

struct Conjunction {
  std::vector<Keywords> all;
  std::vector<Choice> choices;
  std::set<std::string> decided;  // Schemas that led to choices of which an option is among `all`.
  bool impossible = false;        // The schema false is among them.
};

// The JSON values' types, a bit each. A number is an integer or has a fraction.
enum Type : unsigned {
  type_null = 1,
  type_boolean = 2,
  type_string = 4,
  type_array = 8,
  type_object = 16,
  type_integer = 32,
  type_fraction = 64,
  type_any = 127
};

class Document {
 public:
  explicit Document(json::Value root) : root_(std::move(root)) {}

  [[nodiscard]] Place root() const { return {root_, "#"}; }
  // Adds a schema to what holds. invalid_argument for an invalid schema, or a reference that
  // leads nowhere or to itself; unsupported for a keyword that is not known.
  [[nodiscard]] Result<> add(const Place& place, Conjunction& out) const;
  // Where two options of a oneOf could both hold, as far as can be seen.
  [[nodiscard]] Result<bool> may_overlap(const Conjunction& a, const Conjunction& b) const {
    return may_overlap(a, b, 0);
  }

 private:
  [[nodiscard]] Result<> add(const Place& place, std::vector<std::string>& path,
                             Conjunction& out) const;
  [[nodiscard]] Result<Place> follow(const std::string& reference, const Place& from) const;
  [[nodiscard]] Result<bool> may_overlap(const Conjunction& a, const Conjunction& b,
                                         int depth) const;

  const json::Value root_;
};

// The types that "type" names; all without it.
[[nodiscard]] Result<unsigned> types_of(const Keywords& keywords);
[[nodiscard]] unsigned type_of(const json::Value& value);
// A value as grammars write it: one blank behind commas and colons.
[[nodiscard]] Result<std::string> canonical(const json::Value& value);
// The texts that "const" and "enum" leave; nullopt without them.
[[nodiscard]] Result<std::optional<std::vector<json::Value>>> listed(const Conjunction& all);

// The sentence for a keyword that is not supported; `where` is its schema.
[[nodiscard]] std::unexpected<Error> unsupported_keyword(std::string_view keyword,
                                                         std::string_view where,
                                                         std::string_view why = "");
[[nodiscard]] std::unexpected<Error> wrong_keyword(std::string_view keyword, std::string_view where,
                                                   std::string_view what);

}  // namespace weft::schema
