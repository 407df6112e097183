// Follows a submitted job to its end: prints progress and reasons to wait on standard error, and
// checks outputs by their hashes.
#pragma once

#include <string>

#include "apps/cli/api_client.h"

namespace weft::cli {

// Returns the job once it no longer runs, whatever its end. Fails with cancelled at Ctrl-C, with a
// message that names the command to follow the job later; the job itself continues. `client` reads
// as the job's owner.
[[nodiscard]] Result<protocol::api::Job> follow_job(ApiClient& client, const std::string& id,
                                                    const std::string& coordinator);
// Fetches output `index` of a job that has results. Fails with data_loss if its hash is wrong.
[[nodiscard]] Result<ByteVector> fetch_output(ApiClient& client, const protocol::api::Job& job,
                                              std::size_t index);

}  // namespace weft::cli
