// The record of an answer that is being made: its tokens, fingerprints and vector, as workers
// report them, and the work that each worker did.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/protocol/serving.h"
#include "decisions/inference/answer.h"

namespace weft::inference {

class AnswerRecord {
 public:
  // Adds tokens. Returns false and adds no token if they do not continue the answer to `ask`, or if
  // one of them is not a number below `vocabulary`.
  [[nodiscard]] bool take(const protocol::serving::Tokens& message,
                          const protocol::serving::Ask& ask, std::uint32_t vocabulary);
  // Sets the vector of a model that makes vectors. Its fingerprint is made here, from the vector
  // that the client gets, so that this vector is audited. Returns false if the text is not a vector
  // of `width` numbers.
  [[nodiscard]] bool take_vector(const std::string& text, std::uint32_t width);
  // Records the end of the answer, as a worker reports it.
  void ended(const protocol::serving::Answered& message, std::size_t prompt_tokens);

  // Returns the number of tokens on which a chain has worked when it has drawn `drawn` more tokens.
  // The prompt is added once, for the chain that draws the first token.
  [[nodiscard]] std::uint64_t work_of(std::uint64_t drawn);
  // Adds work of a worker. `amount` is tokens times layers.
  void add_work(const PublicKey& worker, std::uint64_t amount) { work_[worker] += amount; }

  [[nodiscard]] const std::vector<std::int32_t>& tokens() const { return tokens_; }
  // The number by which the chain's frames name the answer. It is known when the answer has ended.
  [[nodiscard]] std::uint32_t sequence() const { return sequence_; }
  // An AnswerEnd with the fields that this record knows.
  [[nodiscard]] AnswerEnd end(std::string reason, Error error) const;

 private:
  std::vector<std::int32_t> tokens_;
  std::uint32_t prompt_tokens_ = 0;
  std::uint32_t cached_tokens_ = 0;
  bool prompt_counted_ = false;
  std::map<PublicKey, std::uint64_t> work_;
  Prints prints_;
  std::vector<float> vector_;
  std::uint32_t sequence_ = 0;
};

}  // namespace weft::inference
