// The protocol as a JSON schema (draft 2020-12), from which the TypeScript types are generated. The
// same text lies in testdata/schema.json, where a test keeps it up to date.
#pragma once

#include <string>

namespace weft::protocol {

// "$defs" holds one object a message or part of one, and the unions WorkerMessage and
// CoordinatorMessage.
[[nodiscard]] std::string json_schema();

// `weft schema`: prints it. Returns the exit code.
int schema_command();

}  // namespace weft::protocol
