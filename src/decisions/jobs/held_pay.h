// Pay of newcomers that is not theirs yet. It is held until no root can be expected to find the
// newcomer wrong, and is lost if a root finds the newcomer wrong. It becomes free by worker and
// minute. Each part names the task that it was paid for, so that the client of a wrong result gets
// it back.
//
// Pure. Memory: an entry for each worker with pay and each minute in which some of it becomes free,
// and in the entry a part for each task.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/manifest/manifest.h"
#include "common/records/funds.h"
#include "common/records/records.h"
#include "common/records/transaction.h"

namespace weft::jobs {

// An accepted task with the data to compute it again, also after its job has ended.
struct PaidTask {
  TaskId task;
  PublicKey client;
  std::shared_ptr<const manifest::Manifest> manifest;
  Hash root;
  std::vector<store::OutputBlob> outputs;
  MicroCredits price = 0;  // The price that the client paid for the task.
};

class HeldPays {
 public:
  struct Part {
    std::shared_ptr<const PaidTask> paid;
    ledger::Funds funds;
  };
  struct Entry {
    // Zeros: an unknown worker of the owner, because the pay was held before tasks were kept with
    // it.
    PublicKey worker;
    OwnerId owner;
    ledger::Funds funds;      // The sum of the parts and of pay for unknown tasks.
    std::vector<Part> parts;  // Pay for known tasks.
  };

  // Adds pay, which becomes free at `free_at` or up to a minute later.
  void add(const Entry& entry, Instant free_at);
  // Returns and forgets the pay that is free by now.
  [[nodiscard]] std::vector<Entry> take_free(Instant now);
  // Returns and forgets the pay that is held for the worker, and the pay that is held for its owner
  // without a known worker (Entry::worker is zeros).
  [[nodiscard]] std::vector<Entry> take_of(const PublicKey& worker, const OwnerId& owner);
  // Pay that is held for the task becomes free at `free_at`, if that is later than before.
  void postpone(const TaskId& task, Instant free_at);
  [[nodiscard]] std::optional<Instant> next() const;
  // True if pay is held for a task of the client.
  [[nodiscard]] bool holds_for(const PublicKey& client) const;
  [[nodiscard]] bool holds_for(const TaskId& task) const { return tasks_.contains(task); }

 private:
  struct Key {
    Instant free_at;
    PublicKey worker;
    OwnerId owner;  // Separates owners if the worker is unknown.
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  static Instant minute_of(Instant free_at);
  void forget(const Part& part);

  std::map<Key, Entry> entries_;
  std::unordered_map<TaskId, std::size_t> tasks_;  // The number of parts of each task.
};

}  // namespace weft::jobs
