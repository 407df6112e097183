// The room of the blob store: how many bytes are used, and how many are set aside for what running
// jobs will store. Bytes without a job are taken only from what is neither used nor set aside, so
// that uploads never take what a job needs for its results and their join.
//
// Threading: any. Invariant: a job's bytes are set aside until it takes them, or end().
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "common/base/guarded.h"
#include "common/base/ids.h"
#include "common/base/result.h"

namespace weft::store {

class Room {
 public:
  // What a job stores. Its parts are apart: wrong results of its own workers take nothing of what
  // the join needs, and those of strangers nothing of what is kept for results of known workers,
  // which take `results` as long as there is some.
  enum class Part : std::uint8_t { results, of_known, join };
  struct Needs {
    std::uint64_t results = 0;
    std::uint64_t of_known = 0;
    std::uint64_t join = 0;
    [[nodiscard]] std::uint64_t total() const { return results + of_known + join; }
  };
  struct For {
    JobId job;
    Part part = Part::results;
  };
  // Bytes that were taken; `from_job`: so many of them were set aside.
  struct Taken {
    std::uint64_t bytes = 0;
    Needs from_job;
    void add(const Taken& more);
  };

  explicit Room(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}

  // unavailable if less is left now; resource_exhausted if the whole store has less.
  [[nodiscard]] Result<> set_aside(const JobId& job, const Needs& needs);
  // After a restart: what a running job was promised holds, however full the store is.
  void restore(const JobId& job, const Needs& needs);
  // What the job has not taken is free. A job without any is fine.
  void end(const JobId& job);

  // resource_exhausted if less is left. What a job wants beyond what is set aside for it comes
  // from what is free.
  [[nodiscard]] Result<Taken> take(std::uint64_t bytes, const std::optional<For>& wanted = {});
  // Was not needed: what came from a job goes back to it, if it still runs.
  void give_back(const Taken& taken, const std::optional<For>& wanted = {});
  // Bytes that are stored already, and bytes that are removed.
  void add_used(std::uint64_t bytes);
  void remove_used(std::uint64_t bytes);

  [[nodiscard]] std::uint64_t used() const;
  [[nodiscard]] std::uint64_t aside() const;

 private:
  struct State {
    std::uint64_t used = 0;
    std::uint64_t aside = 0;  // Sum of `jobs`.
    std::unordered_map<JobId, Needs> jobs;

    // What of `bytes` the job has for this purpose.
    [[nodiscard]] Needs left_for(std::uint64_t bytes, const std::optional<For>& wanted) const;
    [[nodiscard]] std::uint64_t free(std::uint64_t bytes_max) const;
  };
  const std::uint64_t bytes_max_;
  Guarded<State> state_;
};

}  // namespace weft::store
