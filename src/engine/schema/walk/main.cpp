// Reads JSON schemas, one on each line, and writes random texts of each schema as one JSON array of
// strings on a line. For a schema that is refused it writes {"error": MESSAGE}. The seed determines
// the texts.
//   schema_walk SEED TEXTS < schemas
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

#include "common/json/quote.h"
#include "engine/grammar/gbnf.h"
#include "engine/grammar/test_walk.h"
#include "engine/schema/schema.h"

namespace {

using namespace weft;

Result<std::string> texts_of(const std::string& schema, std::mt19937_64& random, int count) {
  WEFT_ASSIGN(const std::string gbnf, schema::grammar_of_schema(schema));
  WEFT_ASSIGN(grammar::Grammar made, grammar::parse_gbnf(gbnf));
  grammar::Matcher matcher(std::make_shared<const grammar::Grammar>(std::move(made)));
  std::string out;
  for (int i = 0; i < count; ++i) {
    const auto text = grammar::test::random_text(matcher, random, 1 + random() % 200);
    if (!text)
      return fail(ErrorCode::internal,
                  "The random walk through the grammar found no complete text.");
    out += (i > 0 ? "," : "") + json::quote(*text);
  }
  return "[" + out + "]";
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::fputs("Usage: schema_walk SEED TEXTS < schemas\n", stderr);
    return 2;
  }
  std::mt19937_64 random(std::strtoull(arguments[1], nullptr, 10));
  const int texts = std::atoi(arguments[2]);
  for (std::string line; std::getline(std::cin, line);) {
    const auto written = texts_of(line, random, texts);
    std::puts(
        (written ? *written : "{\"error\":" + json::quote(written.error().message) + "}").c_str());
  }
  return 0;
}
