// Writes rules for schemas, one kind of value after the other. Used by schema.cpp alone.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "engine/schema/conjunction.h"
#include "engine/schema/rules.h"

namespace weft::schema {

// An expression of a grammar; nullopt if no value is allowed.
using Expression = std::optional<std::string>;

class SchemaWriter {
 public:
  // Both outlive it.
  SchemaWriter(const Document& document, Rules& rules) : document_(document), rules_(rules) {}

  // A value for which all these hold. `where` is for messages about it.
  [[nodiscard]] Result<Expression> write(const std::vector<Place>& places);

 private:
  [[nodiscard]] Result<Expression> write(Conjunction all, const std::string& where);
  [[nodiscard]] Result<Expression> write_choice(Conjunction all, const std::string& where);
  [[nodiscard]] Result<Expression> write_listed(const Conjunction& all,
                                                const std::vector<json::Value>& values,
                                                unsigned types);
  [[nodiscard]] Result<Expression> write_number(const Conjunction& all, bool integer);
  [[nodiscard]] Result<Expression> write_string(const Conjunction& all, const std::string& where);
  [[nodiscard]] Result<Expression> write_array(const Conjunction& all);
  // writer_object.cpp
  [[nodiscard]] Result<Expression> write_object(const Conjunction& all, const std::string& where);
  [[nodiscard]] std::string write_other_key(const std::vector<std::string>& names);

  const Document& document_;
  Rules& rules_;
  std::map<std::string, Expression> known_;  // By the places that hold for them.
  std::size_t depth_ = 0;
  std::size_t choices_ = 0;
};

// A keyword that is a count; nullopt without it.
[[nodiscard]] Result<std::optional<std::uint64_t>> count_of(const Keywords& keywords,
                                                            const std::string& key);
// The largest of the counts under `key`, or the smallest.
[[nodiscard]] Result<std::uint64_t> largest(const Conjunction& all, const std::string& key);
[[nodiscard]] Result<std::optional<std::uint64_t>> smallest(const Conjunction& all,
                                                            const std::string& key);
// "what{least,most}"; "" for none. More than times_max are cut to that many.
[[nodiscard]] std::string times(const std::string& what, std::uint64_t least,
                                std::optional<std::uint64_t> most);
inline constexpr std::uint64_t times_most = 16384;

}  // namespace weft::schema
