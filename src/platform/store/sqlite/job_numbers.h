// Maps the id of a job to the number by which rows of other tables refer to it.
//
// Threading: one thread at a time, as Connection. Memory: the numbers that were looked up recently.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "platform/store/sqlite/connection.h"

namespace weft::store::sqlite {

class JobNumbers {
 public:
  [[nodiscard]] static Result<JobNumbers> create(Connection& connection);

  // Returns the job's number. Fails with not_found if the job is not stored.
  [[nodiscard]] Result<std::int64_t> of(const JobId& job);
  // Adds the number of a job whose row was written.
  void add(const JobId& job, std::int64_t number) { numbers_[job] = number; }
  // Called after a batch was rolled back: drops all cached numbers, because they may be wrong.
  void forget() { numbers_.clear(); }

 private:
  static constexpr std::size_t cached_max = 100'000;

  Statement find_;
  std::unordered_map<JobId, std::int64_t> numbers_;
};

}  // namespace weft::store::sqlite
