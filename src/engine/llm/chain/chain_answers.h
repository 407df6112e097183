// What the first stage of a chain waits for: one answer of the last stage for each ticket.
//
// Threading: one thread; receive() and lose() resume what waits.
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
  // `config` is of the whole model and outlives this.
  explicit ChainAnswers(const Config& config) : config_(config) {}

  // A number that no other question of this chain has. Zero is for rows of which nothing is asked.
  [[nodiscard]] std::uint32_t ticket() { return ++tickets_; }
  // The answer with this ticket that is to come; a failed one if the chain has ended.
  [[nodiscard]] Answer wait(std::uint32_t ticket);
  // The question was not sent.
  void forget(std::uint32_t ticket) { waiting_.erase(ticket); }

  // invalid_argument for what no stage of a chain sends; the line is then not to be trusted
  // further. A fault of rows of which nothing was asked ends the chain: what follows on them is
  // wrong.
  [[nodiscard]] Result<> receive(ChainFrame frame);
  // A stage is gone: all answers fail, those that wait and those that are asked for later.
  void lose(Error error);
  // Why the chain has ended, once it has.
  [[nodiscard]] const std::optional<Error>& lost() const { return lost_; }

 private:
  const Config& config_;
  std::map<std::uint32_t, Answer> waiting_;  // By ticket.
  std::uint32_t tickets_ = 0;
  std::optional<Error> lost_;
};

}  // namespace weft::llm
