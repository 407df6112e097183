#include "apps/bench/attacks/signed_asking.h"

#include <utility>

#include "apps/bench/coordinator/talk.h"

namespace weft::coordinator::bench {

void SignedAsking::ask(const crypto::KeyPair& wallet, std::string_view method,
                       const std::string& path, const std::string& body, Answer answer) {
  if (free_.empty()) {
    const auto id = context_.wire->connect();
    if (!id) {
      context_.broken = id.error();
      return;
    }
    free_.push_back(*id);
  }
  const Wire::Id id = free_.back();
  free_.pop_back();
  asked_.emplace(id, std::move(answer));
  context_.wire->request(id, method, path,
                         signed_headers(wallet, context_.coordinator, method, path, body), body);
}

void SignedAsking::answered(Wire::Id id, int status, std::string_view body) {
  const Answer answer = std::move(asked_.at(id));
  asked_.erase(id);
  free_.push_back(id);
  answer(status, body);
}

void SignedAsking::closed(Wire::Id id) {
  asked_.erase(id);
  std::erase(free_, id);
}

}  // namespace weft::coordinator::bench
