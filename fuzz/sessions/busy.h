// The factor, from 1 to 10, by which an action may take longer than on an idle machine: the load of
// a core, or the number of histories that run at once for each core. Bounds whose excess counts as
// a failure follow this factor, so that a failure is caused by the coordinator, and not by other
// work of the machine.
#pragma once

namespace weft::sessions {

[[nodiscard]] int busy();
// Sets the number of histories that run at once, for this process and its children.
void expect_histories(unsigned at_once);

}  // namespace weft::sessions
