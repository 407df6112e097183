// How lines of the log write strangers' text.
#pragma once

namespace weft {

// Whether control characters are written as text, as they are at the start. Off only in tests:
// strangers' text then begins lines of its own and steers the operator's terminal.
void set_log_escapes(bool on);

}  // namespace weft
