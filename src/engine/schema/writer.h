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
#include "engine/schema/scalars.h"

namespace weft::schema {

class SchemaWriter {
 public:
  // Both outlive it.
  SchemaWriter(const Document& document, Rules& rules) : document_(document), rules_(rules) {}

  // A value for which all these hold. `where` is for messages about it.
  [[nodiscard]] Result<Expression> write(const std::vector<Place>& places);

 private:
  [[nodiscard]] Result<Expression> write(Conjunction all, const std::string& where);
  [[nodiscard]] Result<Expression> write_choice(Conjunction all, const std::string& where);
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

}  // namespace weft::schema
