// The jobs whose data the verifier keeps in memory, most recently used first. Their size is checked
// against a bound before any data are read, because a client's data are kept here before the job is
// paid. A job over the bound is not loaded; other verifiers may check it.
//
// Threading: one thread, except bytes().
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <utility>

#include "apps/coordinator/ingest/step_plan.h"
#include "apps/coordinator/ingest/verifier_runs.h"
#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/manifest/manifest.h"
#include "platform/store/blobs.h"

namespace weft::coordinator {

// A job with its data in memory, as exec::Job has them.
struct VerifiedJob {
  std::shared_ptr<const manifest::Manifest> manifest;
  std::string shader;
  std::vector<ByteVector> data;  // Data by binding (kernels: a, b); may be empty.
};

struct VerifierBounds {
  std::size_t jobs_max = 8;
  // Maximum size of the data of all jobs, together with the states of the job that is checked.
  std::uint64_t bytes_max = std::uint64_t{512} << 20;
  // After a run of a job took too long, no run of the job that is as large or larger begins for
  // this time. Otherwise each of the job's waiting checks would take as long.
  Duration late_for = std::chrono::seconds(8);
};

class VerifiedJobs {
 public:
  struct Known {
    JobId id;
    std::shared_ptr<const VerifiedJob> job;
    std::uint64_t bytes = 0;
    std::array<RunLimit, 2> limits;  // Indexed by VerifierDevice.
    std::array<StepLimit, 2> steps;  // Indexed by VerifierDevice, for jobs run by steps.
    RunCosts costs;                  // Costs on the first device.
  };

  VerifiedJobs(store::Blobs& blobs, const VerifierBounds& bounds)
      : blobs_(blobs), bounds_(bounds) {}

  // A job, loaded if necessary; the pointer is valid until the next call. Fails with
  // resource_exhausted if the job's data exceed the bound, and with errors of the blob store.
  [[nodiscard]] Result<Known*> find_or_load(
      const JobId& id, const std::shared_ptr<const manifest::Manifest>& manifest);
  // Counts bytes that a check holds beside the data of its job, for as long as the object lives.
  class Beside {
   public:
    Beside(std::atomic<std::uint64_t>& sum, std::uint64_t bytes) : sum_(&sum), bytes_(bytes) {
      sum += bytes;
    }
    Beside(Beside&& from) noexcept : sum_(from.sum_), bytes_(std::exchange(from.bytes_, 0)) {}
    Beside& operator=(Beside&&) = delete;
    ~Beside() { *sum_ -= bytes_; }

   private:
    std::atomic<std::uint64_t>* sum_;
    std::uint64_t bytes_;
  };
  // Makes room for the bytes: the data of jobs other than the latest are dropped. Fails with
  // resource_exhausted if the bytes and the latest job's data exceed the bound together.
  [[nodiscard]] Result<Beside> beside_latest(std::uint64_t bytes);
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
