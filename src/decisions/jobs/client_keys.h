// API keys: clients and the operator make and revoke them, and requests that carry one are admitted
// and counted. What a key has used is stored when a request has ended.
//
// Threading: one thread. Bounds: KeyRing's.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "decisions/billing/answers.h"
#include "decisions/billing/api_keys.h"
#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/grants.h"

namespace weft::jobs {

class ClientKeys {
 public:
  ClientKeys(CoreTables& tables, Grants& grants) : tables_(tables), grants_(grants) {}
  ClientKeys(const ClientKeys&) = delete;

  [[nodiscard]] Result<> restore(std::span<const billing::ApiKey> keys);

  // Adds a key. `give` is an amount of credits for the key's owner, which only the operator may
  // give. The key's owner must hold credits, or the operator must have made the key.
  void add(billing::ApiKey key, billing::KeyMaker maker, MicroCredits give, Moment now,
           Answer<billing::ApiKey> answer);
  // Revokes a key for the owner `who`; an empty `who` stands for the operator.
  void revoke(const std::string& id, const std::optional<PublicKey>& who, Moment now,
              Answer<billing::ApiKey> answer);
  void list(const std::optional<PublicKey>& owner, Answer<std::vector<billing::ApiKey>> answer);
  void show(const Hash& key, Answer<billing::ApiKey> answer);

  // Admits a request that becomes a job. Each admitted request ends with one job_request_ended(),
  // which counts the credits that were spent.
  void admit_job_request(const billing::JobRequest& wanted, Moment now,
                         Answer<billing::JobAdmission> answer);
  void job_request_ended(const std::string& key_id, MicroCredits held, MicroCredits spent,
                         Moment now);

  // The functions of the key ring; settle() also stores the key's use.
  [[nodiscard]] const billing::KeyRing& ring() const { return ring_; }
  [[nodiscard]] billing::KeyAdmission admit(const Hash& key, const billing::KeyUse& use,
                                            Instant now) {
    return ring_.admit(key, use, now);
  }
  void settle(const std::string& id, const billing::KeyUse& held,
              const billing::KeyRing::Used& used, Instant now);
  // True if the device has a key that is not revoked.
  [[nodiscard]] bool has_live_key(const PublicKey& device) const;
  // Deletes the device's keys, also in the store.
  void forget(const PublicKey& device);

 private:
  void store_key(const billing::ApiKey& key) { tables_.outbox.batch().api_keys.push_back(key); }

  CoreTables& tables_;
  Grants& grants_;
  billing::KeyRing ring_;
};

}  // namespace weft::jobs
