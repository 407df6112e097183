// By which number a job stands in the rows of the other tables.
//
// Threading: as Connection. Memory: the numbers that were looked up lately.
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

  // not_found: the job is not stored.
  [[nodiscard]] Result<std::int64_t> of(const JobId& job);
  // Its row was written.
  void add(const JobId& job, std::int64_t number) { numbers_[job] = number; }
  // The batch was rolled back: nothing that is known here holds any more.
  void forget() { numbers_.clear(); }

 private:
  static constexpr std::size_t cached_max = 100'000;

  Statement find_;
  std::unordered_map<JobId, std::int64_t> numbers_;
};

}  // namespace weft::store::sqlite
