// Translates JSON schemas to grammars: every text of the grammar is a document that the schema
// allows.
//
//   WEFT_ASSIGN(const std::string gbnf, grammar_of_schema(R"({"type": "object", ...})"));
//
// Supported as in drafts 7 and 2020-12: type (also several), enum, const, properties, required,
// additionalProperties, min/maxProperties, items, prefixItems, min/maxItems, numbers with bounds,
// multipleOf of integers, min/maxLength, pattern, format, $ref within the document (also
// recursive), allOf, anyOf, and oneOf if its options exclude each other. The grammar allows only a
// part of the texts that the schema allows: properties come in the order of the schema, other keys
// only if additionalProperties asks for them, and there is one blank after commas and colons. Any
// other keyword that would restrict the value is refused by name, with its position as a JSON
// pointer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace weft::schema {

inline constexpr std::size_t schema_bytes_max = std::size_t{256} << 10;

// Returns the GBNF grammar (engine/grammar/gbnf.h) of a JSON schema. Fails with invalid_argument if
// the text is not a schema or allows no value, with unsupported for a keyword that a grammar cannot
// express, and with resource_exhausted if the schema is too large.
[[nodiscard]] Result<std::string> grammar_of_schema(std::string_view text);

// A value of a schema, or a free text, with fixed text before and after it.
struct Part {
  std::string before{};
  std::string schema{};  // Schema of the value; empty: no value.
  bool text = false;     // True: a text without "</" instead of a value.
  std::string after{};
  bool optional = false;
};
struct Variant {
  std::vector<Part> parts;
};
struct Frame {
  std::string open{}, between{}, close{};
  bool many = false;  // True: one or more variants; false: exactly one.
};
// Returns a grammar for texts made of one variant, or of several. Fails as grammar_of_schema().
[[nodiscard]] Result<std::string> grammar_of_variants(const std::vector<Variant>& variants,
                                                      const Frame& frame);

// Returns a grammar for any JSON object, with blanks wherever JSON allows them.
[[nodiscard]] std::string_view json_object_grammar();

}  // namespace weft::schema
