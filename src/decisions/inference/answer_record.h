// What is known of an answer while it is made: its tokens, fingerprints and vector, as workers told
// of them, and the work that each did.
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
  // The tokens that follow. False, and nothing is taken, if they are not the next ones of an answer
  // to `ask`, or not all of them are numbers below `vocabulary`.
  [[nodiscard]] bool take(const protocol::serving::Tokens& message,
                          const protocol::serving::Ask& ask, std::uint32_t vocabulary);
  // The vector of a model that makes such; its fingerprint is made here, so that the one that is
  // audited is of the vector that is given away. False if the text is not one of `width` numbers.
  [[nodiscard]] bool take_vector(const std::string& text, std::uint32_t width);
  // The end that a worker told of.
  void ended(const protocol::serving::Answered& message, std::size_t prompt_tokens);

  // Tokens that were worked on when so many more were drawn: the prompt counts once, for the chain
  // that draws the first token after it.
  [[nodiscard]] std::uint64_t work_of(std::uint64_t drawn);
  // `amount`: tokens times layers.
  void add_work(const PublicKey& worker, std::uint64_t amount) { work_[worker] += amount; }

  [[nodiscard]] const std::vector<std::int32_t>& tokens() const { return tokens_; }
  // The number by which its chain's frames name it; known when it has ended.
  [[nodiscard]] std::uint32_t sequence() const { return sequence_; }
  // The parts of an end that are known here.
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
