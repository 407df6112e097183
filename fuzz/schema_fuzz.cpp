// Fuzzes JSON schemas: each is refused with a sentence, or becomes a grammar that the parser
// accepts.
#include "common/base/bytes.h"
#include "common/base/check.h"
#include "engine/grammar/gbnf.h"
#include "engine/schema/schema.h"

using namespace weft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto gbnf = schema::grammar_of_schema(as_text(ByteSpan(data, size)));
  if (!gbnf) {
    check(gbnf.error().message.ends_with('.') || gbnf.error().message.contains("line"),
          "a refusal is a sentence");
    return 0;
  }
  const auto made = grammar::parse_gbnf(*gbnf);
  check(made || !made.error().message.starts_with("Line"), "what is written can be read");
  return 0;
}
