// Valid messages with one or more things wrong: fields that are missing, doubled, of another type
// or out of range, and bytes that are others.
#pragma once

#include <string>

#include "fuzz/sessions/random.h"

namespace weft::sessions {

// JSON whose members and values are changed as a grammar has them; rarely its bytes.
[[nodiscard]] std::string mutate_json(std::string text, Random& random);
// A binary frame, whose header is JSON behind its length.
[[nodiscard]] std::string mutate_frame(std::string frame, Random& random);
// Bytes that are flipped, cut, doubled and inserted.
[[nodiscard]] std::string mutate_bytes(std::string bytes, Random& random);
// The text of a request: its line, its headers, its lengths.
[[nodiscard]] std::string mutate_request(std::string text, Random& random);

}  // namespace weft::sessions
