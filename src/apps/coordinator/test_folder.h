// Fills data folders in the way each version of the coordinator leaves them (tests/data/folders).
#pragma once

#include <string_view>

namespace weft::coordinator {

// The test program's mode --fill-folder PART URL FOLDER, which tests/data/folders/make starts.
// Workers over real sockets make the coordinator at `url` store a suspension (PART is "suspension")
// or a running job with the state of one of its tasks ("job"). FOLDER gets the wallets and the
// expected values of the test (suspension.json, job.json). Returns 0 if all of it is durable.
[[nodiscard]] int fill_folder(std::string_view part, const char* url, const char* folder);

}  // namespace weft::coordinator
