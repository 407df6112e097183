// A submitted job, followed to its end: progress and reasons to wait on standard error, outputs
// checked by their hashes.
#pragma once

#include <string>

#include "apps/cli/api_client.h"

namespace weft::cli {

// The job when it runs no more, whatever became of it. cancelled at Ctrl-C, with the command that
// follows the job later; the job itself continues. `client` reads as the job's owner.
[[nodiscard]] Result<protocol::api::Job> follow_job(ApiClient& client, const std::string& id,
                                                    const std::string& coordinator);
// Output `index` of a job that has results; data_loss if it does not have its hash.
[[nodiscard]] Result<ByteVector> fetch_output(ApiClient& client, const protocol::api::Job& job,
                                              std::size_t index);

}  // namespace weft::cli
