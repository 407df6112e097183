// Clients' weights: their shares of the network beside others'. What the operator sets at run time
// is durable, and comes before what the coordinator was started with (--client-weight). Shares
// belong to owners: a weight is its owner's, under the key that names the owner.
//
// Threading: one thread.
#pragma once

#include <map>
#include <optional>
#include <span>

#include "decisions/jobs/core_tables.h"

namespace weft::jobs {

class ClientWeights {
 public:
  explicit ClientWeights(CoreTables& tables) : tables_(tables) {}
  ClientWeights(const ClientWeights&) = delete;

  // data_loss if a row is no weight.
  [[nodiscard]] Result<> restore(std::span<const store::ClientWeight> rows);
  // 1 if none is set.
  [[nodiscard]] double of(const PublicKey& client) const;
  // What was set at run time.
  [[nodiscard]] std::optional<ClientWeight> row_of(const PublicKey& client) const;

  // already_exists if a later one is known, invalid_argument if it is out of bounds or its
  // time is far ahead.
  void set(const ClientWeight& wanted, Moment now, Answer<protocol::api::Client> answer);
  void list(Moment now, Answer<protocol::api::Clients> answer);

 private:
  [[nodiscard]] protocol::api::Client view(const PublicKey& client,
                                           const scheduler::ClientShare& share) const;

  CoreTables& tables_;
  std::map<PublicKey, ClientWeight> weights_;  // Set at run time.
};

}  // namespace weft::jobs
