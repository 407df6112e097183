// Writes the rules of schemas, kind of value by kind of value. Used only by schema.cpp.
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
  // The document and the rules outlive the writer.
  SchemaWriter(const Document& document, Rules& rules) : document_(document), rules_(rules) {}

  // Writes a value to which all schemas of `places` apply.
  [[nodiscard]] Result<Expression> write(const std::vector<Place>& places);

 private:
  [[nodiscard]] Result<Expression> write(Conjunction all, const std::string& where);
  [[nodiscard]] Result<Expression> write_choice(Conjunction all, const std::string& where);
  [[nodiscard]] Result<Expression> write_array(const Conjunction& all);
  // Functions that are defined in writer_object.cpp.
  [[nodiscard]] Result<Expression> write_object(const Conjunction& all, const std::string& where);
  [[nodiscard]] std::string write_other_key(const std::vector<std::string>& names);

  const Document& document_;
  Rules& rules_;
  // The written expressions, by the schemas that they follow.
  std::map<std::string, Expression> known_;
  std::size_t depth_ = 0;
  std::size_t choices_ = 0;
};

}  // namespace weft::schema
