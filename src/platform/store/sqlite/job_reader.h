// Reads jobs, the results of their tasks, and the blobs that rows still name.
//
// Threading: one thread at a time, as Connection. Fails with not_found for an unknown job,
// data_loss for a row that contradicts itself.
#pragma once

#include <optional>
#include <vector>

#include "platform/store/sqlite/connection.h"
#include "platform/store/store.h"

namespace weft::store::sqlite {

class JobReader {
 public:
  explicit JobReader(Connection& connection) : connection_(connection) {}

  [[nodiscard]] Result<Job> job(const JobId& id);
  [[nodiscard]] Result<std::vector<Task>> tasks(const JobId& id);
  [[nodiscard]] Result<std::vector<Replica>> replicas(const JobId& id);
  [[nodiscard]] Result<std::vector<Receipt>> receipts(const JobId& id);
  [[nodiscard]] Result<std::vector<Job>> jobs(const Store::JobPage& page);
  [[nodiscard]] Result<std::optional<JobId>> job_of_nonce(const PublicKey& client,
                                                          const SubmitNonce& nonce);
  [[nodiscard]] Result<BlobOwners> blob_owners(UnixMillis ended_since);

 private:
  Connection& connection_;
  std::optional<Statement> find_nonce_;  // Prepared at the first use.
};

}  // namespace weft::store::sqlite
