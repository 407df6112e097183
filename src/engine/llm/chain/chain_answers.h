// The answers of the last stage that the first stage of a chain waits for, one for each ticket.
//
// Threading: one thread; receive() and lose() resume the waiting coroutines.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "common/base/async.h"
#include "engine/llm/chain/chain_frame.h"
#include "engine/llm/models/model.h"

namespace weft::llm {

class ChainAnswers {
 public:
  using Answer = Pending<Result<ChainFrame>>;
  // `config` is that of the whole model and outlives this object.
  explicit ChainAnswers(const Config& config) : config_(config) {}

  // A number that no other request of this chain has. Ticket 0 marks rows that want no answer.
  [[nodiscard]] std::uint32_t ticket() { return ++tickets_; }
  // The future answer with this ticket; it fails at once if the chain has ended.
  [[nodiscard]] Answer wait(std::uint32_t ticket);
  // Forgets the ticket of a request that was not sent.
  void forget(std::uint32_t ticket) { waiting_.erase(ticket); }

  // Fails with invalid_argument for a frame that no stage of a chain sends; the line is then no
  // longer trusted. A fault with a ticket that is not waited for ends the chain, because the rows
  // that follow would be wrong.
  [[nodiscard]] Result<> receive(ChainFrame frame);
  // Ends the chain because a stage is gone: all waiting answers fail, and all later ones.
  void lose(Error error);
  // The reason for which the chain has ended; nullopt before that.
  [[nodiscard]] const std::optional<Error>& lost() const { return lost_; }

 private:
  const Config& config_;
  std::map<std::uint32_t, Answer> waiting_;  // The keys are tickets.
  std::uint32_t tickets_ = 0;
  std::optional<Error> lost_;
};

}  // namespace weft::llm
