// How many times longer than on an idle machine things may take: the load of a core, or the
// histories that run at once for each, from 1 to 10.
// Bounds that count as failures follow it, so that a history tells of the coordinator, and not of
// what else the machine does.
#pragma once

namespace weft::sessions {

[[nodiscard]] int busy();
// Histories that run at once, for this process and those that it starts.
void expect_histories(unsigned at_once);

}  // namespace weft::sessions
