// The jobs that the verifier has at hand, the last used first. Their data count towards a bound of
// bytes before one of them is read: what a client submits is kept here before any of it is paid
// for. A job over the bound is not taken; other verifiers may check it.
//
// Threading: one thread, but for bytes().
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <string>

#include "apps/coordinator/ingest/step_plan.h"
#include "apps/coordinator/ingest/verifier_runs.h"
#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/manifest/manifest.h"
#include "platform/store/blobs.h"

namespace weft::coordinator {

// A job with its bytes at hand, as exec::Job has them.
struct VerifiedJob {
  std::shared_ptr<const manifest::Manifest> manifest;
  std::string shader;
  std::vector<ByteVector> data;  // By binding (of a kernel: a, b); empty if there is none.
};

struct VerifierBounds {
  std::size_t jobs_max = 8;
  std::uint64_t bytes_max = std::uint64_t{512} << 20;  // Data of all of them together.
  // For so long after a run of a job ran out of time, no run of that size or more begins: each
  // of the job's waiting checks would take as long.
  Duration late_for = std::chrono::seconds(8);
};

class VerifiedJobs {
 public:
  struct Known {
    JobId id;
    std::shared_ptr<const VerifiedJob> job;
    std::uint64_t bytes = 0;
    std::array<RunLimit, 2> limits;  // By device.
    std::array<StepLimit, 2> steps;  // By device; of a job that is run a few steps at a time.
    RunCosts costs;                  // On the first device.
  };

  VerifiedJobs(store::Blobs& blobs, const VerifierBounds& bounds)
      : blobs_(blobs), bounds_(bounds) {}

  // Valid until the next call. resource_exhausted: the job's data are over the bound; errors of the
  // blob store.
  [[nodiscard]] Result<Known*> find_or_load(
      const JobId& id, const std::shared_ptr<const manifest::Manifest>& manifest);
  void clear();
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  [[nodiscard]] Result<std::uint64_t> bytes_of(const manifest::Manifest& manifest) const;
  void drop_last();

  store::Blobs& blobs_;
  const VerifierBounds bounds_;
  std::list<Known> known_;
  std::atomic<std::uint64_t> bytes_ = 0;
};

}  // namespace weft::coordinator
