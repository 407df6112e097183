// The protocol as a JSON schema (draft 2020-12), from which the TypeScript types are generated.
// testdata/schema.json holds a copy, and a test checks that the copy is up to date.
#pragma once

#include <string>

namespace weft::protocol {

// The schema. "$defs" holds one object for each message and part of one, and the unions
// WorkerMessage and CoordinatorMessage.
[[nodiscard]] std::string json_schema();

// Prints the schema, for `weft schema`. Returns the exit code.
int schema_command();

}  // namespace weft::protocol
