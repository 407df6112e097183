#include "engine/schema/conjunction.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "common/base/format.h"
#include "common/json/quote.h"

namespace weft::schema {
namespace {

constexpr std::size_t all_max = 256;  // The most schemas that apply to one value.

// Keywords that do not restrict a value.
constexpr std::string_view annotations[] = {
    "title",        "description", "default",         "examples",
    "example",      "deprecated",  "readOnly",        "writeOnly",
    "$schema",      "$id",         "$comment",        "$defs",
    "definitions",  "$anchor",     "contentEncoding", "contentMediaType",
    "discriminator"};
constexpr std::string_view supported[] = {"type",
                                          "enum",
                                          "const",
                                          "minimum",
                                          "maximum",
                                          "exclusiveMinimum",
                                          "exclusiveMaximum",
                                          "multipleOf",
                                          "minLength",
                                          "maxLength",
                                          "pattern",
                                          "format",
                                          "items",
                                          "prefixItems",
                                          "additionalItems",
                                          "minItems",
                                          "maxItems",
                                          "uniqueItems",
                                          "properties",
                                          "required",
                                          "additionalProperties",
                                          "minProperties",
                                          "maxProperties"};

std::string escaped(std::string_view key) {
  std::string out;
  for (const char c : key) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

std::string unescaped(std::string_view part) {
  std::string out;
  for (std::size_t i = 0; i < part.size(); ++i) {
    const bool pair = part[i] == '~' && i + 1 < part.size();
    out += pair ? (part[i + 1] == '1' ? '/' : '~') : part[i];
    if (pair) ++i;
  }
  return out;
}

}  // namespace

std::unexpected<Error> unsupported_keyword(std::string_view keyword, std::string_view where,
                                           std::string_view why) {
  return fail(ErrorCode::unsupported, "The schema's keyword '{}' at {} is not supported{}{}.",
              keyword, where, why.empty() ? "" : " ", why);
}

std::unexpected<Error> wrong_keyword(std::string_view keyword, std::string_view where,
                                     std::string_view what) {
  return fail(ErrorCode::invalid_argument, "The schema's keyword '{}' at {} {}.", keyword, where,
              what);
}

Result<Place> Document::follow(const std::string& reference, const Place& from) const {
  const auto nowhere = [&] {
    return fail(ErrorCode::invalid_argument,
                "The schema's reference '{}' at {} names no place in the schema.", reference,
                from.pointer);
  };
  if (!reference.starts_with('#'))
    return fail(ErrorCode::unsupported,
                "The schema's reference '{}' at {} leads to another document, which is not "
                "supported.",
                reference, from.pointer);
  Place out{root_, "#"};
  std::string_view rest = std::string_view(reference).substr(1);
  if (!rest.empty() && rest[0] != '/') return nowhere();
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::size_t end = std::min(rest.find('/'), rest.size());
    const std::string key = unescaped(rest.substr(0, end));
    rest.remove_prefix(end);
    if (out.value.kind() == json::Kind::object) {
      WEFT_ASSIGN(const auto members, out.value.members());
      const auto found = std::ranges::find(
          members, key, [](const auto& member) -> const std::string& { return member.first; });
      if (found == members.end()) return nowhere();
      out = {found->second, out.pointer + "/" + escaped(key)};
    } else if (out.value.kind() == json::Kind::array) {
      WEFT_ASSIGN(const auto items, out.value.array());
      const std::size_t index = std::strtoull(key.c_str(), nullptr, 10);
      if (key.empty() || key.find_first_not_of("0123456789") != std::string::npos ||
          index >= items.size())
        return nowhere();
      out = {items[index], out.pointer + "/" + key};
    } else {
      return nowhere();
    }
  }
  return out;
}

Result<> Document::add(const Place& place, Conjunction& out) const {
  std::vector<std::string> path;
  return add(place, path, out);
}

Result<> Document::add(const Place& place, std::vector<std::string>& path, Conjunction& out) const {
  if (std::ranges::contains(path, place.pointer) || out.decided.contains(place.pointer))
    return fail(ErrorCode::invalid_argument,
                "The schema at {} refers directly to itself, so it describes no value.",
                place.pointer);
  if (out.all.size() >= all_max)
    return fail(ErrorCode::resource_exhausted,
                "More than {} schemas apply to the value of {}; write fewer.", all_max,
                place.pointer);
  if (place.value.kind() == json::Kind::boolean) {
    WEFT_ASSIGN(const bool possible, place.value.boolean());
    out.impossible = out.impossible || !possible;
    return {};
  }
  if (place.value.kind() != json::Kind::object)
    return fail(ErrorCode::invalid_argument, "The schema at {} is neither an object nor a boolean.",
                place.pointer);
  // A schema that is added already changes nothing.
  if (std::ranges::contains(out.all, place.pointer, &Keywords::pointer)) return {};

  path.push_back(place.pointer);
  Keywords own{.pointer = place.pointer, .values = {}};
  WEFT_ASSIGN(const auto members, place.value.members());
  for (const auto& [key, value] : members) {
    const std::string pointer = place.pointer + "/" + key;
    if (key == "$ref") {
      WEFT_ASSIGN(const std::string reference, value.string());
      WEFT_ASSIGN(const Place target, follow(reference, place));
      WEFT_OK(add(target, path, out));
    } else if (key == "allOf" || key == "anyOf" || key == "oneOf") {
      if (value.kind() != json::Kind::array)
        return wrong_keyword(key, place.pointer, "is not an array");
      WEFT_ASSIGN(const auto list, value.array());
      if (list.empty()) return wrong_keyword(key, place.pointer, "has no schema in it");
      Choice choice{.pointer = pointer, .exclusive = key == "oneOf", .options = {}, .path = path};
      for (std::size_t i = 0; i < list.size(); ++i) {
        const Place one{list[i], weft::format("{}/{}", pointer, i)};
        if (key == "allOf") {
          WEFT_OK(add(one, path, out));
        } else {
          choice.options.push_back(one);
        }
      }
      if (key != "allOf") out.choices.push_back(std::move(choice));
    } else if (std::ranges::contains(supported, key)) {
      own.values.emplace(key, value);
    } else if (!std::ranges::contains(annotations, key) && !key.starts_with("x-")) {
      return unsupported_keyword(key, place.pointer);
    }
  }
  path.pop_back();
  out.all.push_back(std::move(own));
  return {};
}

unsigned type_of(const json::Value& value) {
  switch (value.kind()) {
    case json::Kind::null:
      return type_null;
    case json::Kind::boolean:
      return type_boolean;
    case json::Kind::string:
      return type_string;
    case json::Kind::array:
      return type_array;
    case json::Kind::object:
      return type_object;
    case json::Kind::number:
      break;
  }
  const auto number = value.number();
  return number && std::floor(*number) == *number ? type_integer : type_fraction;
}

Result<unsigned> types_of(const Keywords& keywords) {
  const json::Value* const type = keywords.find("type");
  if (type == nullptr) return static_cast<unsigned>(type_any);
  const auto one = [&](const json::Value& value) -> Result<unsigned> {
    constexpr std::pair<std::string_view, unsigned> names[] = {
        {"null", type_null},
        {"boolean", type_boolean},
        {"string", type_string},
        {"array", type_array},
        {"object", type_object},
        {"integer", type_integer},
        {"number", type_integer | type_fraction}};
    if (value.kind() == json::Kind::string) {
      WEFT_ASSIGN(const std::string name, value.string());
      for (const auto& [known, bits] : names)
        if (name == known) return bits;
    }
    return wrong_keyword("type", keywords.pointer, "names no type of JSON");
  };
  if (type->kind() != json::Kind::array) return one(*type);
  unsigned out = 0;
  WEFT_ASSIGN(const auto list, type->array());
  for (const json::Value& value : list) {
    WEFT_ASSIGN(const unsigned bits, one(value));
    out |= bits;
  }
  return out;
}

Result<std::string> canonical(const json::Value& value) {
  constexpr std::size_t bytes_max = std::size_t{1} << 20;
  std::string out;
  switch (value.kind()) {
    case json::Kind::string: {
      WEFT_ASSIGN(const std::string text, value.string({.bytes_max = bytes_max}));
      return json::quote(text);
    }
    case json::Kind::array: {
      WEFT_ASSIGN(const auto items, value.array());
      for (const json::Value& item : items) {
        WEFT_ASSIGN(const std::string text, canonical(item));
        out += (out.empty() ? "" : ", ") + text;
      }
      return "[" + out + "]";
    }
    case json::Kind::object: {
      WEFT_ASSIGN(const auto members, value.members());
      for (const auto& [key, member] : members) {
        WEFT_ASSIGN(const std::string text, canonical(member));
        out += (out.empty() ? "" : ", ") + json::quote(key) + ": " + text;
      }
      return "{" + out + "}";
    }
    default:
      return std::string(value.text());
  }
}

Result<std::optional<std::vector<json::Value>>> listed(const Conjunction& all) {
  std::optional<std::vector<json::Value>> out;
  const auto keep = [&out](const std::vector<json::Value>& values) -> Result<> {
    if (!out) {
      out = values;
      return {};
    }
    std::set<std::string> texts;
    for (const json::Value& value : values) {
      WEFT_ASSIGN(std::string text, canonical(value));
      texts.insert(std::move(text));
    }
    std::erase_if(*out, [&](const json::Value& value) {
      const auto text = canonical(value);
      return !text || !texts.contains(*text);
    });
    return {};
  };
  for (const Keywords& one : all.all) {
    if (const json::Value* const value = one.find("const")) WEFT_OK(keep({*value}));
    if (const json::Value* const value = one.find("enum")) {
      if (value->kind() != json::Kind::array)
        return wrong_keyword("enum", one.pointer, "is not an array");
      WEFT_ASSIGN(const auto values, value->array());
      WEFT_OK(keep(values));
    }
  }
  return out;
}

// Returns false if two options exclude each other by their types, by constants, by a property that
// distinguishes them, or by a property that one option requires and the other forbids. Choices
// within the options are not examined.
Result<bool> Document::may_overlap(const Conjunction& a, const Conjunction& b, int depth) const {
  constexpr int depth_max = 4;
  if (a.impossible || b.impossible) return false;
  const auto declared = [](const Conjunction& all) -> Result<unsigned> {
    unsigned types = type_any;
    for (const Keywords& one : all.all) {
      WEFT_ASSIGN(const unsigned own, types_of(one));
      types &= own;
    }
    return types;
  };
  WEFT_ASSIGN(const unsigned types_a, declared(a));
  WEFT_ASSIGN(const unsigned types_b, declared(b));
  if ((types_a & types_b) == 0) return false;
  WEFT_ASSIGN(const auto listed_a, listed(a));
  WEFT_ASSIGN(const auto listed_b, listed(b));
  if (listed_a && listed_b) {
    std::set<std::string> texts;
    for (const json::Value& value : *listed_a) {
      WEFT_ASSIGN(std::string text, canonical(value));
      texts.insert(std::move(text));
    }
    bool common = false;
    for (const json::Value& value : *listed_b) {
      WEFT_ASSIGN(const std::string text, canonical(value));
      common = common || texts.contains(text);
    }
    if (!common) return false;
  }
  if ((types_a & types_b) != type_object || depth == depth_max) return true;

  struct Shape {
    std::map<std::string, Conjunction> properties;
    std::set<std::string> required;
    bool closed = false;
  };
  const auto shape = [this](const Conjunction& all) -> Result<Shape> {
    Shape out;
    for (const Keywords& one : all.all) {
      if (const json::Value* const list = one.find("required")) {
        WEFT_ASSIGN(const auto names, list->array());
        for (const json::Value& name : names) {
          WEFT_ASSIGN(std::string text, name.string());
          out.required.insert(std::move(text));
        }
      }
      if (const json::Value* const more = one.find("additionalProperties"))
        out.closed = out.closed || more->text() == "false";
      if (const json::Value* const list = one.find("properties")) {
        WEFT_ASSIGN(const auto members, list->members());
        for (const auto& [key, value] : members)
          WEFT_OK(add({value, one.pointer + "/properties/" + escaped(key)}, out.properties[key]));
      }
    }
    return out;
  };
  WEFT_ASSIGN(const Shape shape_a, shape(a));
  WEFT_ASSIGN(const Shape shape_b, shape(b));
  for (const auto& [mine, other] : {std::pair(&shape_a, &shape_b), std::pair(&shape_b, &shape_a)}) {
    for (const std::string& name : mine->required) {
      const auto own = mine->properties.find(name), their = other->properties.find(name);
      if (their == other->properties.end()) {
        if (other->closed) return false;
        continue;
      }
      if (own == mine->properties.end()) continue;
      WEFT_ASSIGN(const bool overlap, may_overlap(own->second, their->second, depth + 1));
      if (!overlap) return false;
    }
  }
  return true;
}

}  // namespace weft::schema
