// Makes valid messages wrong in one or more places: fields that are missing, doubled, of another
// type or out of range, and bytes that are changed.
#pragma once

#include <string>

#include "fuzz/sessions/random.h"

namespace weft::sessions {

// Changes members and values of JSON by its grammar; rarely changes its bytes.
[[nodiscard]] std::string mutate_json(std::string text, Random& random);
// Changes a binary frame, whose header is JSON after its length.
[[nodiscard]] std::string mutate_frame(std::string frame, Random& random);
// Flips, cuts, doubles and inserts bytes at random.
[[nodiscard]] std::string mutate_bytes(std::string bytes, Random& random);
// Changes the text of a request: its line, its headers, its lengths.
[[nodiscard]] std::string mutate_request(std::string text, Random& random);

}  // namespace weft::sessions
