// Reads the decisions about results: the basis of each result, checks, corrections and evidence.
//
// Threading: one thread at a time, as Connection. Fails with not_found for an unknown job,
// data_loss for a row that contradicts itself.
#pragma once

#include <vector>

#include "platform/store/sqlite/connection.h"
#include "platform/store/store.h"

namespace weft::store::sqlite {

class VerdictReader {
 public:
  explicit VerdictReader(Connection& connection) : connection_(connection) {}

  [[nodiscard]] Result<std::vector<Task>> paid_tasks(const Store::PaidPage& page);
  [[nodiscard]] Result<std::vector<Correction>> corrections(const JobId& id);
  // The corrections of all jobs that are not settled yet.
  [[nodiscard]] Result<std::vector<Correction>> open_corrections();
  [[nodiscard]] Result<std::vector<Recheck>> rechecks();
  [[nodiscard]] Result<BasisCounts> bases(const JobId& id);
  [[nodiscard]] Result<std::vector<Evidence>> evidence(std::size_t from, std::size_t count);
  // Returns the latest `count` checks, the oldest first.
  [[nodiscard]] Result<std::vector<Check>> checks(const JobId& id, std::uint32_t count);
  [[nodiscard]] Result<std::vector<Check>> checks(const PublicKey& worker, std::uint32_t count);

 private:
  Connection& connection_;
};

}  // namespace weft::store::sqlite
