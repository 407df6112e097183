// Pay of newcomers that is not theirs yet: held until it is clear that no root finds them out, and
// lost if one does. It becomes free by worker and minute; of each part is known which task it was
// paid for, so that the client of a wrong one gets it back.
//
// Pure. Memory: an entry for each worker with pay and each minute in which some of it becomes free,
// and in it a part for each task.
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

// An accepted task with what is needed to compute it again, also after the end of its job.
struct PaidTask {
  TaskId task;
  PublicKey client;
  std::shared_ptr<const manifest::Manifest> manifest;
  Hash root;
  std::vector<store::OutputBlob> outputs;
  MicroCredits price = 0;  // What its client paid for it.
};

class HeldPays {
 public:
  struct Part {
    std::shared_ptr<const PaidTask> paid;
    ledger::Funds funds;
  };
  struct Entry {
    PublicKey worker;  // Zeros: one of the owner's, from before tasks were kept with held pay.
    OwnerId owner;
    ledger::Funds funds;      // The parts, and what is held for unknown tasks.
    std::vector<Part> parts;  // Known tasks.
  };

  // It becomes free at `free_at` or up to a minute later.
  void add(const Entry& entry, Instant free_at);
  // What is free by now, and forgotten here.
  [[nodiscard]] std::vector<Entry> take_free(Instant now);
  // What is held for the worker, and forgotten here; also what is held for its owner and an unknown
  // worker (Entry::worker is zeros then).
  [[nodiscard]] std::vector<Entry> take_of(const PublicKey& worker, const OwnerId& owner);
  // What is held for the task becomes free at `free_at`, if that is later.
  void postpone(const TaskId& task, Instant free_at);
  [[nodiscard]] std::optional<Instant> next() const;
  // Whether something is held for a task of the client.
  [[nodiscard]] bool holds_for(const PublicKey& client) const;
  [[nodiscard]] bool holds_for(const TaskId& task) const { return tasks_.contains(task); }

 private:
  struct Key {
    Instant free_at;
    PublicKey worker;
    OwnerId owner;  // Unknown workers of several owners stay apart.
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  static Instant minute_of(Instant free_at);
  void forget(const Part& part);

  std::map<Key, Entry> entries_;
  std::unordered_map<TaskId, std::size_t> tasks_;  // How many parts each has.
};

}  // namespace weft::jobs
