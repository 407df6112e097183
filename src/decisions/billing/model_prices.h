// The prices of language models' answers that requests are charged. A price that was shown stays
// valid: a price that its owner raises is charged after a minute, one that is lowered at once. So a
// request is never charged more than the price on the model's card within the last minute.
//
// Pure. Threading: the caller's. Memory: an entry for each model, and for a minute for each model
// that was removed.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "common/base/clock.h"
#include "common/base/ids.h"

namespace weft::billing {

class ModelPrices {
 public:
  // A `hold` of zero makes each new price valid at once.
  explicit ModelPrices(Duration hold = std::chrono::minutes(1)) : hold_(hold) {}

  // Sets the price of 1,000 tokens. The price of a new model is valid at once, and so is that of a
  // model that was removed more than `hold` ago.
  void set(const std::string& model, MicroCredits price, Instant now);
  void remove(const std::string& model, Instant now);
  // Returns 0 for an unknown model.
  [[nodiscard]] MicroCredits price(const std::string& model, Instant now) const;
  // The next price, if it is not valid yet; otherwise no value.
  [[nodiscard]] std::optional<MicroCredits> next(const std::string& model, Instant now) const;

 private:
  struct Price {
    MicroCredits holds = 0;
    MicroCredits follows = 0;
    Instant from{};  // The time from which `follows` is valid.
    std::optional<Instant> removed{};

    [[nodiscard]] MicroCredits at(Instant now) const { return now < from ? holds : follows; }
  };
  void forget_removed(Instant now);

  Duration hold_;
  std::map<std::string, Price> prices_;
};

}  // namespace weft::billing
