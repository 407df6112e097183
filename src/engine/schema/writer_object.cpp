// Writes objects: their properties in order, optional ones, and keys that are not named.
#include <algorithm>
#include <functional>
#include <set>

#include "common/base/utf8.h"
#include "common/json/quote.h"
#include "engine/schema/counts.h"
#include "engine/schema/writer.h"

namespace weft::schema {
namespace {

struct Property {
  std::string name;
  std::string value;  // The name of the value's rule.
  bool required = false;
};

std::string escaped_key(std::string_view key) {
  std::string out;
  for (const char c : key) out += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return out;
}

}  // namespace

// Writes keys without escapes that differ from all names, as a tree of the names' characters: a key
// leaves the tree at the character where it differs from all names.
std::string SchemaWriter::write_other_key(const std::vector<std::string>& names) {
  std::vector<std::u32string> keys;
  for (const std::string& name : names) {
    std::u32string key;
    for (std::size_t at = 0; at < name.size();) {
      const utf8::Decoded decoded = utf8::decode(name, at);
      key += decoded.code;
      at += decoded.bytes;
    }
    keys.push_back(std::move(key));
  }
  std::ranges::sort(keys);
  const grammar::CharacterSet plain =
      grammar::complement(grammar::normalized({{0, 0x1F}, {U'"', U'"'}, {U'\\', U'\\'}}));
  // The most characters of a name that are compared, which bounds the recursion: a key other than a
  // longer name must differ from it within these characters.
  constexpr std::size_t depth_max = 64;
  const std::function<std::string(std::size_t, std::size_t, std::size_t)> node =
      [&](std::size_t begin, std::size_t end, std::size_t depth) -> std::string {
    std::vector<std::string> parts;
    const bool is_name = begin < end && keys[begin].size() == depth;
    if (!is_name) parts.emplace_back("\"\"");
    std::size_t at = begin;
    while (at < end && keys[at].size() == depth) ++at;
    std::vector<grammar::CharacterRange> taken;
    while (at < end) {
      const char32_t c = keys[at][depth];
      std::size_t last = at;
      while (last < end && keys[last][depth] == c) ++last;
      taken.push_back({c, c});
      if (grammar::contains(plain, c) && depth < depth_max)
        parts.push_back(class_of({{c, c}}) + " " + node(at, last, depth + 1));
      at = last;
    }
    parts.push_back(class_of(grammar::difference(plain, grammar::normalized(std::move(taken)))) +
                    " plain*");
    return rules_.define(any_of(parts));
  };
  return R"("\"" )" + node(0, keys.size(), 0) + R"( "\"")";
}

Result<Expression> SchemaWriter::write_object(const Conjunction& all, const std::string& where) {
  WEFT_ASSIGN(const std::uint64_t least, largest(all, "minProperties"));
  WEFT_ASSIGN(const std::optional<std::uint64_t> most, smallest(all, "maxProperties"));
  std::vector<std::string> names;
  std::set<std::string> seen, required;
  struct Own {
    std::map<std::string, Place> properties;
    std::optional<Place> others;
  };
  std::vector<Own> owns;
  bool named = false, open = false, closed = false;
  for (const Keywords& one : all.all) {
    Own own;
    if (const json::Value* const properties = one.find("properties")) {
      if (properties->kind() != json::Kind::object)
        return wrong_keyword("properties", one.pointer, "is not an object");
      WEFT_ASSIGN(const auto members, properties->members());
      for (const auto& [key, value] : members) {
        own.properties.emplace(key, Place{value, one.pointer + "/properties/" + escaped_key(key)});
        if (seen.insert(key).second) names.push_back(key);
      }
      named = true;
    }
    if (const json::Value* const list = one.find("required")) {
      if (list->kind() != json::Kind::array)
        return wrong_keyword("required", one.pointer, "is not an array");
      WEFT_ASSIGN(const auto values, list->array());
      for (const json::Value& value : values) {
        if (value.kind() != json::Kind::string)
          return wrong_keyword("required", one.pointer, "has an entry that is not a string");
        WEFT_ASSIGN(std::string name, value.string());
        required.insert(std::move(name));
      }
    }
    if (const json::Value* const others = one.find("additionalProperties")) {
      own.others = Place{*others, one.pointer + "/additionalProperties"};
      (others->text() == "false" ? closed : open) = true;
    }
    owns.push_back(std::move(own));
  }
  for (const std::string& name : required)
    if (seen.insert(name).second) names.push_back(name);

  std::vector<Property> properties;
  for (const std::string& name : names) {
    std::vector<Place> places;
    for (const Own& own : owns) {
      if (const auto found = own.properties.find(name); found != own.properties.end()) {
        places.push_back(found->second);
      } else if (own.others) {
        places.push_back(*own.others);
      }
    }
    const bool needed = required.contains(name);
    WEFT_ASSIGN(Expression value, write(places));
    if (!value && needed) return std::nullopt;
    if (value) properties.push_back({name, std::move(*value), needed});
  }
  // Keys that are not named are allowed if the schema asks for them or names no keys.
  std::string other;
  if (!closed && (open || (!named && required.empty()))) {
    std::vector<Place> places;
    for (const Own& own : owns)
      if (own.others) places.push_back(*own.others);
    WEFT_ASSIGN(const Expression value, write(places));
    if (value) {
      other = names.empty() ? "string" : rules_.define(write_other_key(names));
      other = rules_.define(other + " \": \" " + *value);
    }
  }
  if (properties.empty() && other == "" && least == 0) return R"("{}")";

  // The expression for the properties from i on if `count` properties are written already. Without
  // limits of the number it only matters whether any is written.
  const bool counted = least > 0 || most.has_value();
  std::map<std::pair<std::size_t, std::uint64_t>, Expression> from;
  for (std::size_t i = properties.size() + 1; i-- > 0;) {
    const std::uint64_t counts = counted ? i : std::min<std::uint64_t>(i, 1);
    for (std::uint64_t count = 0; count <= counts; ++count) {
      Expression& here = from[{i, count}];
      const std::string comma = count > 0 ? "\", \" " : "";
      if (i == properties.size()) {
        const bool enough = count >= least, room = !most || count < *most;
        if (other.empty() || !room) {
          if (enough && (!most || count <= *most)) here = "\"\"";
          continue;
        }
        // Only one of the keys that are not named can be counted on, because two of them may be
        // equal and then count only once.
        if (!enough && least - count > 1) continue;
        const auto left = most ? std::optional(*most - count) : std::nullopt;
        std::string more;
        if (count > 0) {
          more = times("(\", \" " + other + ")", enough ? 0 : 1, left);
        } else {
          more = other + " " +
                 times("(\", \" " + other + ")", 0, left ? std::optional(*left - 1) : std::nullopt);
          if (enough) more.insert(0, "(").append(")?");
        }
        here = rules_.define(more);
        continue;
      }
      const Property& property = properties[i];
      const std::uint64_t after = counted ? count + 1 : 1;
      std::vector<std::string> ways;
      if (const Expression& rest = from[{i + 1, after}])
        ways.push_back(comma + literal(json::quote(property.name) + ": ") + " " + property.value +
                       " " + *rest);
      if (!property.required) {
        if (const Expression& rest = from[{i + 1, count}]) ways.push_back(*rest);
      }
      if (!ways.empty()) here = rules_.define(any_of(ways));
    }
  }
  const Expression& body = from[{0, 0}];
  if (!body) {
    const bool may_be_more = !other.empty() && (!most || *most >= least);
    if (may_be_more)
      return unsupported_keyword("minProperties", where, "with keys that are not named");
    return std::nullopt;
  }
  return R"("{" )" + *body + R"( "}")";
}

}  // namespace weft::schema
