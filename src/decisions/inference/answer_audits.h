// Audits: workers that did not give an answer read it once more and compute its fingerprints.
//
// An audit is asked of a root that weighs the answer, if one can (weighing_auditors.h). Otherwise
// it is asked of a chain that serves the model. If no such chain is free, it is asked of a worker
// that stands by with all layers, or else of an idle worker that has room for them. Such a worker
// is linked as a chain of one for this audit alone. Not for several threads. Bounds:
// DeskSettings::audits_max audits at a time, and audits_waiting_max together with the waiting
// audits.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/protocol/serving.h"
#include "decisions/inference/answer.h"
#include "decisions/inference/desk_requests.h"
#include "decisions/inference/desk_tables.h"
#include "decisions/inference/weighing_auditors.h"

namespace weft::inference {

class AnswerAudits {
 public:
  AnswerAudits(DeskTables& tables, WeighingAuditors& weighing)
      : tables_(tables), weighing_(weighing) {}

  // Begins an audit, which ends with one call of DeskWorld::audited().
  void audit(AuditRequest request, Instant now);
  // Begins audits that wait, and ends audits that take too long or have lost their chain.
  void look(Instant now);
  void end_on(ServingId worker);
  void end_of_model(const std::string& model);

  // Messages of workers. Each returns true if the message was about an audit, so that no other part
  // of the desk handles it.
  [[nodiscard]] bool loaded(ChainId chain);
  [[nodiscard]] bool unloaded(ChainId chain, const std::string& message);
  [[nodiscard]] bool linked(ServingId session, const protocol::serving::Linked& message) const;
  [[nodiscard]] bool broken(ServingId session, const protocol::serving::Broken& message);
  [[nodiscard]] bool on(ServingId session, const protocol::serving::Tokens& message);
  [[nodiscard]] bool on(ServingId session, const protocol::serving::Answered& message);

  // The number of audits that use this shard for themselves.
  [[nodiscard]] std::size_t holders_of(ShardId shard) const;
  [[nodiscard]] std::string inconsistency() const;

 private:
  struct Audit {
    AuditRequest what;
    ChainId chain{};  // A chain that answers, or a number for this audit alone.
    std::uint32_t epoch = 0;
    ServingId worker = 0;  // The worker that is asked.
    ShardId shard{};       // Set if a worker is linked for this audit alone.
    bool waiting = false;  // True if the audit waits for a worker, which audits another answer now.
    Instant since{};
    bool plain = false;  // True if no root that weighs is asked, because one took too long to load.
    std::vector<PublicKey> auditors{};
    Prints prints{};
    Prints beside{};
    std::uint32_t redrawn = 0;
    std::vector<std::uint32_t> doubtful{};

    // Takes the audit from the worker that should load the model for it.
    void take_back() {
      shard = {};
      chain = {};
      worker = 0;
      auditors.clear();
    }
  };
  [[nodiscard]] bool may_begin() const;
  [[nodiscard]] bool begin(Audit& audit);
  // Begins the audit, lets it wait, or ends it if no worker could ever do it.
  void begin_or_wait(RequestId id);
  [[nodiscard]] bool by_chain(Audit& audit);
  [[nodiscard]] bool by_holder(Audit& audit);
  [[nodiscard]] bool by_room(Audit& audit);
  // Lets the audit use a shard that was lent to `chain`.
  void use(Audit& audit, ShardId shard, ChainId chain) const;
  void link(Audit& audit) const;
  void ask(const Audit& audit) const;
  void end(RequestId id, std::optional<Error> error);
  // The audit that uses `chain` for itself alone; null if there is none.
  [[nodiscard]] Audit* of_chain(ChainId chain);
  [[nodiscard]] const Audit* of_chain(ChainId chain) const;

  DeskTables& tables_;
  WeighingAuditors& weighing_;
  std::map<RequestId, Audit> audits_;
};

}  // namespace weft::inference
