#include "platform/store/sqlite/job_numbers.h"

namespace weft::store::sqlite {

Result<JobNumbers> JobNumbers::create(Connection& connection) {
  JobNumbers numbers;
  WEFT_ASSIGN(numbers.find_, connection.prepare("SELECT seq FROM jobs WHERE id = ?"));
  return numbers;
}

Result<std::int64_t> JobNumbers::of(const JobId& job) {
  if (const auto known = numbers_.find(job); known != numbers_.end()) return known->second;
  find_.start(job);
  WEFT_ASSIGN(const bool found, find_.next());
  const std::int64_t number = found ? find_.integer(0) : 0;
  find_.finish();
  if (!found) return fail(ErrorCode::not_found, "The job {} is not stored.", job.text());
  if (numbers_.size() >= cached_max) numbers_.clear();
  numbers_[job] = number;
  return number;
}

}  // namespace weft::store::sqlite
