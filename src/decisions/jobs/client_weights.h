// The weights of clients: their shares of the network compared with other clients. A weight that
// the operator sets at run time is durable and overrides the weight that the coordinator was
// started with (--client-weight). A weight belongs to an owner and is stored under the key that
// names the owner.
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

  // Takes up the stored rows. Fails with data_loss if a row is not a valid weight.
  [[nodiscard]] Result<> restore(std::span<const store::ClientWeight> rows);
  // The client's weight; 1 if none is set.
  [[nodiscard]] double of(const PublicKey& client) const;
  // The weight that was set at run time, if any.
  [[nodiscard]] std::optional<ClientWeight> row_of(const PublicKey& client) const;

  // Sets a weight. Fails with already_exists if a later setting is known, and with invalid_argument
  // if the weight is out of bounds or its time is far ahead.
  void set(const ClientWeight& wanted, Moment now, Answer<protocol::api::Client> answer);
  void list(Moment now, Answer<protocol::api::Clients> answer);

 private:
  [[nodiscard]] protocol::api::Client view(const PublicKey& client,
                                           const scheduler::ClientShare& share) const;

  CoreTables& tables_;
  std::map<PublicKey, ClientWeight> weights_;  // Weights that were set at run time.
};

}  // namespace weft::jobs
