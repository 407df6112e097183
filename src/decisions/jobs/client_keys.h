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

  // `give`: credits for the owner, of the operator alone. A key's owner holds credits, or the
  // operator made the key.
  void add(billing::ApiKey key, billing::KeyMaker maker, MicroCredits give, Moment now,
           Answer<billing::ApiKey> answer);
  // `who` empty: the operator.
  void revoke(const std::string& id, const std::optional<PublicKey>& who, Moment now,
              Answer<billing::ApiKey> answer);
  void list(const std::optional<PublicKey>& owner, Answer<std::vector<billing::ApiKey>> answer);
  void show(const Hash& key, Answer<billing::ApiKey> answer);

  // A request that becomes a job. What was admitted ends with one job_request_ended(), which counts
  // what was spent.
  void admit_job_request(const billing::JobRequest& wanted, Moment now,
                         Answer<billing::JobAdmission> answer);
  void job_request_ended(const std::string& key_id, MicroCredits held, MicroCredits spent,
                         Moment now);

  // As the key ring's; settle() also stores what was used.
  [[nodiscard]] const billing::KeyRing& ring() const { return ring_; }
  [[nodiscard]] billing::KeyAdmission admit(const Hash& key, const billing::KeyUse& use,
                                            Instant now) {
    return ring_.admit(key, use, now);
  }
  void settle(const std::string& id, const billing::KeyUse& held,
              const billing::KeyRing::Used& used, Instant now);
  // Whether a key of this device is not revoked.
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
