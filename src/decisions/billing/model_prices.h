// What the answers of language models cost, as requests see it. A price that was shown holds: one
// that its owner raises is charged after a minute, one that is lowered at once. So a request is
// never charged more than what the model's card said within the last minute.
//
// Pure. Threading: the caller's. Memory: an entry for each model, and for a minute for each that
// was removed.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "common/base/clock.h"
#include "common/base/ids.h"

namespace weft::billing {

class ModelPrices {
 public:
  // With `hold` zero each price is charged at once.
  explicit ModelPrices(Duration hold = std::chrono::minutes(1)) : hold_(hold) {}

  // `price`: of 1,000 tokens. A new model's holds at once; so does that of one that was removed
  // more than `hold` ago.
  void set(const std::string& model, MicroCredits price, Instant now);
  void remove(const std::string& model, Instant now);
  // 0 for an unknown model.
  [[nodiscard]] MicroCredits price(const std::string& model, Instant now) const;
  // The price that follows, if another one holds now.
  [[nodiscard]] std::optional<MicroCredits> next(const std::string& model, Instant now) const;

 private:
  struct Price {
    MicroCredits holds = 0;
    MicroCredits follows = 0;
    Instant from{};  // From then on `follows` holds.
    std::optional<Instant> removed{};

    [[nodiscard]] MicroCredits at(Instant now) const { return now < from ? holds : follows; }
  };
  void forget_removed(Instant now);

  Duration hold_;
  std::map<std::string, Price> prices_;
};

}  // namespace weft::billing
