// Records in memory about workers, clients, devices, models and the market, and held pay: rows that
// a batch puts and removes by their keys.
//
// Not safe to share between threads.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "platform/store/memory/job_rows.h"
#include "platform/store/memory/undo_log.h"
#include "platform/store/store.h"

namespace weft::store::memory {

class RecordRows {
 public:
  RecordRows(UndoLog& undo, JobRows& jobs) : undo_(undo), jobs_(jobs) {}

  // Fails with already_exists for an API key with the secret of another key, not_found for a
  // checkpoint or held pay of an unknown job.
  [[nodiscard]] Result<> write(const Batch& batch);

  void load(Loaded& loaded) const;
  [[nodiscard]] BlobOwners blob_owners(UnixMillis ended_since) const;

 private:
  [[nodiscard]] Result<> write(const ApiKey& key);
  void load_held(Loaded& loaded) const;
  [[nodiscard]] bool is_held(const JobId& id) const;

  UndoLog& undo_;
  JobRows& jobs_;
  std::map<std::string, Secret> secrets_;
  std::map<PublicKey, Reputation> reputations_;
  std::map<PublicKey, Standing> standings_;
  std::map<std::pair<PublicKey, PublicKey>, ClientShare> client_shares_;
  std::map<std::pair<PublicKey, PublicKey>, Mismatch> mismatches_;
  std::map<std::tuple<PublicKey, Hash, bool>, WeightSum> weight_sums_;
  std::map<PublicKey, Watch> watches_;
  std::map<JobId, Faults> faults_;
  std::map<PublicKey, ClientWeight> client_weights_;
  std::map<PublicKey, Device> devices_;
  std::map<std::string, ApiKey> api_keys_;
  std::map<std::pair<TaskId, PublicKey>, Checkpoint> checkpoints_;
  std::map<PublicKey, Presence> presences_;
  std::map<std::string, Model> models_;
  std::map<std::pair<Hash, PublicKey>, Pace> paces_;
  std::map<std::uint32_t, Season> seasons_;
  std::map<std::pair<TaskId, PublicKey>, HeldPay> held_pays_;
};

}  // namespace weft::store::memory
