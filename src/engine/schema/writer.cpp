#include "engine/schema/writer.h"

#include <algorithm>

#include "engine/schema/counts.h"
#include "engine/schema/scalars.h"

namespace weft::schema {
namespace {

constexpr std::size_t depth_max = 128;
constexpr std::size_t choices_max = 4096;
constexpr std::size_t bytes_max = std::size_t{1} << 20;

constexpr std::string_view number_keywords[] = {"minimum", "maximum", "exclusiveMinimum",
                                                "exclusiveMaximum", "multipleOf"};
constexpr std::string_view string_keywords[] = {"minLength", "maxLength", "pattern", "format"};
constexpr std::string_view array_keywords[] = {"items",    "prefixItems", "additionalItems",
                                               "minItems", "maxItems",    "uniqueItems"};
constexpr std::string_view object_keywords[] = {"properties", "required", "additionalProperties",
                                                "minProperties", "maxProperties"};

template <std::size_t n>
bool has_any(const Conjunction& all, const std::string_view (&keywords)[n]) {
  return std::ranges::any_of(all.all, [&](const Keywords& one) {
    return std::ranges::any_of(keywords, [&](std::string_view keyword) {
      return one.values.contains(std::string(keyword));
    });
  });
}

}  // namespace

Result<Expression> SchemaWriter::write(const std::vector<Place>& places) {
  if (places.empty()) return "value";
  std::vector<std::string> pointers;
  for (const Place& place : places) pointers.push_back(place.pointer);
  std::ranges::sort(pointers);
  const auto repeated = std::ranges::unique(pointers);
  pointers.erase(repeated.begin(), repeated.end());
  std::string key;
  for (const std::string& pointer : pointers) key += pointer + "\n";
  if (const auto known = known_.find(key); known != known_.end()) return known->second;

  const std::string& where = places.front().pointer;
  if (depth_ >= depth_max)
    return fail(ErrorCode::resource_exhausted,
                "The schema at {} is nested more than {} levels deep; flatten it.", where,
                depth_max);
  if (rules_.bytes() > bytes_max)
    return fail(ErrorCode::resource_exhausted,
                "The schema needs a grammar of more than {} bytes; write it shorter.", bytes_max);
  // The name is registered before the rule is written, because the schema may refer to itself.
  std::string name = rules_.reserve(where);
  known_[key] = name;
  ++depth_;
  Conjunction all;
  for (const Place& place : places) WEFT_OK(document_.add(place, all));
  WEFT_ASSIGN(Expression body, write(std::move(all), where));
  --depth_;
  if (!body) {
    rules_.set(name, name);  // The rule never ends, so a grammar that uses it is refused.
    known_[key] = std::nullopt;
    return std::nullopt;
  }
  rules_.set(name, std::move(*body));
  return name;
}

Result<Expression> SchemaWriter::write(Conjunction all, const std::string& where) {
  if (all.impossible) return std::nullopt;
  if (!all.choices.empty()) return write_choice(std::move(all), where);
  unsigned types = type_any;
  for (const Keywords& one : all.all) {
    WEFT_ASSIGN(const unsigned own, types_of(one));
    types &= own;
  }
  WEFT_ASSIGN(const auto values, listed(all));
  if (values) return write_listed(all, *values, types);

  // Keywords for one type do not restrict other types. If the schema names no type, its keywords
  // name it: `properties` means an object.
  unsigned meant = 0;
  if (has_any(all, number_keywords)) meant |= type_integer | type_fraction;
  if (has_any(all, string_keywords)) meant |= type_string;
  if (has_any(all, array_keywords)) meant |= type_array;
  if (has_any(all, object_keywords)) meant |= type_object;
  if (types == type_any && meant != 0) types = meant;
  if (types == type_any) return "value";
  if (types == 0) return std::nullopt;

  std::vector<std::string> parts;
  const auto add = [&parts](Expression one) {
    if (one) parts.push_back(std::move(*one));
  };
  if ((types & type_null) != 0) parts.emplace_back("null");
  if ((types & type_boolean) != 0) parts.emplace_back("boolean");
  if ((types & (type_integer | type_fraction)) != 0) {
    WEFT_ASSIGN(Expression one, write_number(all, (types & type_fraction) == 0, rules_));
    add(std::move(one));
  }
  if ((types & type_string) != 0) {
    WEFT_ASSIGN(Expression one, write_string(all, where, rules_));
    add(std::move(one));
  }
  if ((types & type_array) != 0) {
    WEFT_ASSIGN(Expression one, write_array(all));
    add(std::move(one));
  }
  if ((types & type_object) != 0) {
    WEFT_ASSIGN(Expression one, write_object(all, where));
    add(std::move(one));
  }
  if (parts.empty()) return std::nullopt;
  return any_of(parts);
}

// Writes each option of a choice together with all other schemas that apply.
Result<Expression> SchemaWriter::write_choice(Conjunction all, const std::string& where) {
  const Choice choice = std::move(all.choices.back());
  all.choices.pop_back();
  all.decided.insert(choice.path.begin(), choice.path.end());
  std::vector<std::string> parts;
  std::vector<Conjunction> options;
  for (const Place& option : choice.options) {
    if (++choices_ > choices_max)
      return fail(ErrorCode::resource_exhausted,
                  "The schema has more than {} combinations of its choices at {}; write fewer.",
                  choices_max, choice.pointer);
    Conjunction one = all;
    WEFT_OK(document_.add(option, one));
    if (choice.exclusive) {
      for (const Conjunction& other : options) {
        WEFT_ASSIGN(const bool overlap, document_.may_overlap(other, one));
        if (overlap)
          return unsupported_keyword("oneOf", where, "with options that may hold at the same time");
      }
      options.push_back(one);
    }
    WEFT_ASSIGN(Expression part, write(std::move(one), where));
    if (part) parts.push_back(rules_.define(*part));
  }
  if (parts.empty()) return std::nullopt;
  return any_of(parts);
}

Result<Expression> SchemaWriter::write_array(const Conjunction& all) {
  WEFT_ASSIGN(const std::uint64_t least, largest(all, "minItems"));
  WEFT_ASSIGN(std::optional<std::uint64_t> most, smallest(all, "maxItems"));
  // The schemas of each of the first items, by index, and the schemas of all items after them.
  std::vector<std::vector<Place>> first;
  std::vector<Place> rest;
  bool says_rest = false, says_first = false;
  struct Own {
    std::vector<Place> first;
    std::optional<Place> rest;
  };
  std::vector<Own> owns;
  for (const Keywords& one : all.all) {
    Own own;
    const json::Value* items = one.find("items");
    const json::Value* prefix = one.find("prefixItems");
    std::string prefix_key = "prefixItems", rest_key = "items";
    if (items != nullptr &&
        // An array in "items" is the form of drafts before 2020.
        items->kind() == json::Kind::array) {
      prefix = items;
      prefix_key = "items";
      rest_key = "additionalItems";
      items = one.find("additionalItems");
    }
    if (prefix != nullptr) {
      if (prefix->kind() != json::Kind::array)
        return wrong_keyword(prefix_key, one.pointer, "is not an array");
      WEFT_ASSIGN(const auto list, prefix->array());
      for (std::size_t i = 0; i < list.size(); ++i)
        own.first.push_back({list[i], weft::format("{}/{}/{}", one.pointer, prefix_key, i)});
      says_first = true;
    }
    if (items != nullptr) {
      own.rest = Place{*items, one.pointer + "/" + rest_key};
      says_rest = true;
    }
    owns.push_back(std::move(own));
    if (const json::Value* const unique = one.find("uniqueItems");
        unique != nullptr && unique->text() != "false" && (!most || *most > 1))
      return unsupported_keyword("uniqueItems", one.pointer);
  }
  for (const Own& own : owns) first.resize(std::max(first.size(), own.first.size()));
  for (const Own& own : owns) {
    for (std::size_t i = 0; i < first.size(); ++i) {
      if (i < own.first.size()) {
        first[i].push_back(own.first[i]);
      } else if (own.rest) {
        first[i].push_back(*own.rest);
      }
    }
    if (own.rest) rest.push_back(*own.rest);
  }
  // No items follow a tuple if the schema has no keyword for them.
  if (says_first && !says_rest && least <= first.size())
    most = std::min<std::uint64_t>(most.value_or(first.size()), first.size());
  if (most && *most < least) return std::nullopt;

  std::vector<std::string> items;
  for (std::size_t i = 0; i < first.size() && (!most || i < *most); ++i) {
    WEFT_ASSIGN(Expression item, write(first[i]));
    if (!item) {
      most = i;
      break;
    }
    items.push_back(std::move(*item));
  }
  std::string behind;
  if (!most || *most > items.size()) {
    WEFT_ASSIGN(const Expression item, write(rest));
    if (item) {
      const std::uint64_t needed = least > items.size() ? least - items.size() : 0;
      const auto left = most ? std::optional(*most - items.size()) : std::nullopt;
      if (items.empty()) {
        const std::string more = times("(\", \" " + *item + ")", needed > 0 ? needed - 1 : 0,
                                       left ? std::optional(*left - 1) : std::nullopt);
        behind = *item + " " + more;
        if (needed == 0) behind = "(" + behind + ")?";
      } else {
        behind = times("(\", \" " + *item + ")", needed, left);
      }
    } else {
      most = items.size();
    }
  }
  if (most && *most < least) return std::nullopt;
  // The expression is built from the last item to the first; an item that is not required may be
  // missing together with all items after it.
  std::string body = behind;
  for (std::size_t i = items.size(); i-- > 0;) {
    std::string rest = i > 0 ? "\", \" " : "";
    rest.append(items[i]);
    if (!body.empty()) rest.append(" ").append(body);
    if (i >= least) rest.insert(0, "(").append(")?");
    // Many items become rules of their own, because a grammar limits nested parentheses.
    body = items.size() > 8 ? rules_.define(rest) : std::move(rest);
  }
  return R"("[" )" + (body.empty() ? "" : body + " ") + R"("]")";
}

}  // namespace weft::schema
