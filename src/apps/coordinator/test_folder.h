// Data folders as coordinators of each version leave them: tests/data/folders.
#pragma once

#include <string_view>

namespace weft::coordinator {

// What tests/data/folders/make starts the test program for: --fill-folder PART URL FOLDER. Workers
// over real sockets make the coordinator at `url` keep a suspension (PART is "suspension") or a job
// that runs, with the state of one of its tasks ("job"). FOLDER gets the wallets and what a test
// expects (suspension.json, job.json). 0 if all of it is durable.
[[nodiscard]] int fill_folder(std::string_view part, const char* url, const char* folder);

}  // namespace weft::coordinator
