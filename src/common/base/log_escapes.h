// The setting for control characters in lines of the log.
#pragma once

namespace weft {

// If on (the default), control characters of strangers' text are logged as visible text. Only tests
// switch it off: such text can then begin lines of its own and control the operator's terminal.
void set_log_escapes(bool on);

}  // namespace weft
