// Collects the schemas that all apply to one value: $ref is followed, allOf is opened, and choices
// (anyOf, oneOf) are kept for later.
//
// Threading: const. Lifetime: the document outlives everything that refers to it.
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

// A schema and its position in the document: "#/properties/name".
struct Place {
  json::Value value;
  std::string pointer;
};

struct Choice {
  std::string pointer;     // The JSON pointer of the keyword.
  bool exclusive = false;  // True for oneOf.
  std::vector<Place> options;
  std::vector<std::string> path;  // Pointers of the schemas that led to the choice.
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
  std::set<std::string> decided;  // Schemas of choices for which `all` already has an option.
  bool impossible = false;        // True if one of the schemas is `false`.
};

// The types of JSON values, one bit each. A number is either an integer or has a fraction.
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
  // Adds a schema to those that apply. Fails with invalid_argument for an invalid schema or a
  // reference that leads nowhere or to itself, and with unsupported for an unknown keyword.
  [[nodiscard]] Result<> add(const Place& place, Conjunction& out) const;
  // True unless the check can exclude that two options of a oneOf both accept a value.
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

// Returns the types that "type" names, or all types if the keyword is missing.
[[nodiscard]] Result<unsigned> types_of(const Keywords& keywords);
[[nodiscard]] unsigned type_of(const json::Value& value);
// Returns the text of a value as grammars write it: one blank after commas and colons.
[[nodiscard]] Result<std::string> canonical(const json::Value& value);
// Returns the values that "const" and "enum" allow, or nullopt if both keywords are missing.
[[nodiscard]] Result<std::optional<std::vector<json::Value>>> listed(const Conjunction& all);

// Makes the error for a keyword that is not supported. `where` is the pointer of its schema.
[[nodiscard]] std::unexpected<Error> unsupported_keyword(std::string_view keyword,
                                                         std::string_view where,
                                                         std::string_view why = "");
[[nodiscard]] std::unexpected<Error> wrong_keyword(std::string_view keyword, std::string_view where,
                                                   std::string_view what);

}  // namespace weft::schema
