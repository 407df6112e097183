#include "apps/bench/attacks/standing.h"

#include "common/json/json.h"

namespace weft::coordinator::bench {

Result<ShownStanding> read_standing(std::string_view body) {
  WEFT_ASSIGN(const json::Value root, json::parse(body, {.bytes_max = 4096}));
  WEFT_ASSIGN(const json::Object object,
              root.object({"wallet", "staked", "on_chain", "at_risk", "free", "balance", "granted",
                           "reputation", "established", "suspended_until"}));
  ShownStanding shown;
  WEFT_ASSIGN(const json::Value reputation, object.get("reputation"));
  WEFT_ASSIGN(shown.reputation, reputation.number());
  WEFT_ASSIGN(const json::Value established, object.get("established"));
  WEFT_ASSIGN(shown.established, established.boolean());
  WEFT_ASSIGN(const json::Value until, object.get("suspended_until"));
  WEFT_ASSIGN(shown.suspended_until, until.integer({.min = 0}));
  return shown;
}

}  // namespace weft::coordinator::bench
