// JSON schemas as grammars: every text of the grammar is a document that the schema allows.
//
//   WEFT_ASSIGN(const std::string gbnf, grammar_of_schema(R"({"type": "object", ...})"));
//
// Taken as written in drafts 7 and 2020-12: type (also several), enum, const, properties, required,
// additionalProperties, min/maxProperties, items, prefixItems, min/maxItems, numbers with bounds,
// multipleOf of whole numbers, min/maxLength, pattern, format, $ref within the document (also
// recursive), allOf, anyOf, and oneOf where its options exclude each other. The texts are a part of
// what the schema allows: properties come in their order, keys that are not named only where
// additionalProperties says so, one blank behind commas and colons. All else that would bind the
// value is refused by name, with its place as a JSON pointer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace weft::schema {

inline constexpr std::size_t schema_bytes_max = std::size_t{256} << 10;

// The GBNF grammar (engine/grammar/gbnf.h) of a JSON schema. invalid_argument if the text is not a
// schema or allows nothing; unsupported for a keyword that a grammar cannot hold;
// resource_exhausted if it is too large.
[[nodiscard]] Result<std::string> grammar_of_schema(std::string_view text);

// One way to write something around values of schemas.
struct Part {
  std::string before{};
  std::string schema{};  // The value's schema; empty: none.
  bool text = false;     // Instead of a value: text without "</".
  std::string after{};
  bool optional = false;
};
struct Variant {
  std::vector<Part> parts;
};
struct Frame {
  std::string open{}, between{}, close{};
  bool many = false;  // One variant or more; otherwise exactly one.
};
// Texts made of one of the variants, or of several. Errors as grammar_of_schema().
[[nodiscard]] Result<std::string> grammar_of_variants(const std::vector<Variant>& variants,
                                                      const Frame& frame);

// Any JSON object, with whatever blanks a writer of JSON likes.
[[nodiscard]] std::string_view json_object_grammar();

}  // namespace weft::schema
