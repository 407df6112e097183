// Audits: an answer is read once more by workers that did not give it, for its fingerprints.
//
// An audit is asked of a chain that serves the model, else of a worker that stands by with all of
// its layers, else of an idle worker that has room for them; the last two are linked as a chain of
// one for this audit alone. Not for several threads. Bounds: DeskSettings::audits_max at a time,
// audits_waiting_max with those that wait.
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

namespace weft::inference {

class AnswerAudits {
 public:
  explicit AnswerAudits(DeskTables& tables) : tables_(tables) {}

  // Ends with one DeskWorld::audited().
  void audit(AuditRequest request, Instant now);
  // Begins audits that wait, and ends those that take too long or lost their chain.
  void look(Instant now);
  void end_on(ServingId worker);
  void end_of_model(const std::string& model);
  // Whichever trusted workers answer, others can audit that.
  [[nodiscard]] bool is_auditable(const ModelCard& card) const;

  // What workers say. True if it was about an audit, so that it is for no other part of the desk.
  [[nodiscard]] bool loaded(ChainId chain);
  [[nodiscard]] bool unloaded(ChainId chain, const std::string& message);
  [[nodiscard]] bool linked(ServingId session, const protocol::serving::Linked& message) const;
  [[nodiscard]] bool broken(ServingId session, const protocol::serving::Broken& message);
  [[nodiscard]] bool on(ServingId session, const protocol::serving::Tokens& message);
  [[nodiscard]] bool on(ServingId session, const protocol::serving::Answered& message);

  // Audits that have this shard for themselves.
  [[nodiscard]] std::size_t holders_of(ShardId shard) const;
  [[nodiscard]] std::string inconsistency() const;

 private:
  struct Audit {
    AuditRequest what;
    ChainId chain{};  // One that answers, or a number for this audit alone.
    std::uint32_t epoch = 0;
    ServingId worker = 0;  // The worker that is asked.
    ShardId shard{};       // Where it is linked for this audit alone.
    bool waiting = false;  // For a worker that audits another answer now.
    Instant since{};
    std::vector<PublicKey> auditors{};
    Prints prints{};
    std::uint32_t redrawn = 0;
    std::vector<std::uint32_t> doubtful{};
  };
  [[nodiscard]] bool may_begin() const;
  [[nodiscard]] bool begin(Audit& audit);
  [[nodiscard]] bool by_chain(Audit& audit);
  [[nodiscard]] bool by_holder(Audit& audit);
  [[nodiscard]] bool by_room(Audit& audit);
  void link(Audit& audit) const;
  void ask(const Audit& audit) const;
  void end(RequestId id, std::optional<Error> error);
  // The audit that is linked on this chain of its own; null if there is none.
  [[nodiscard]] Audit* of_chain(ChainId chain);
  [[nodiscard]] const Audit* of_chain(ChainId chain) const;

  DeskTables& tables_;
  std::map<RequestId, Audit> audits_;
};

}  // namespace weft::inference
