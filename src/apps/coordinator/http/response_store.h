// Responses that their clients asked to keep ("store": true): what GET /v1/responses/ID shows, and
// the conversation that previous_response_id goes on with. Each belongs to an owner and is not
// there for any other; after `keep` it is gone, and with the process. Where an owner has more than
// its share, its own oldest go first.
//
// Threading: any thread. Bounds: Options.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/guarded.h"
#include "common/base/result.h"

namespace weft::coordinator {

struct StoredResponse {
  std::string owner;     // A client's key; empty: no key was needed, and the id opens it.
  std::string document;  // As it was answered with.
  std::string messages;  // For the template, without the brackets: the conversation up to here.
  std::uint64_t conversation = 0;  // See AnswerRequest.
  Instant until{};
};

class ResponseStore {
 public:
  struct Options {
    Duration keep = std::chrono::hours(24);
    std::size_t bytes_max = std::size_t{256} << 20;
    std::size_t owner_bytes_max = std::size_t{8} << 20;
    std::size_t owner_count_max = 1024;
  };
  explicit ResponseStore(Options options) : options_(options) {}

  // resource_exhausted if the room of all owners is used up, or one response is more than an
  // owner's.
  [[nodiscard]] Result<> put(const std::string& id, StoredResponse response, Instant now);
  // not_found if there is none, and where it is another's.
  [[nodiscard]] Result<std::shared_ptr<const StoredResponse>> find(const std::string& id,
                                                                   const std::string& owner,
                                                                   Instant now);
  [[nodiscard]] Result<> remove(const std::string& id, const std::string& owner, Instant now);
  // All of an owner's, oldest first.
  [[nodiscard]] std::vector<std::shared_ptr<const StoredResponse>> of(const std::string& owner,
                                                                      Instant now);
  void remove_of(const std::string& owner);

 private:
  struct Owner {
    std::size_t bytes = 0;
    std::multimap<Instant, std::string> ids{};  // By when they end, which is the order they came.
  };
  struct State {
    std::map<std::string, std::shared_ptr<const StoredResponse>> responses;
    std::multimap<Instant, std::string> ends;
    std::map<std::string, Owner> owners;
    std::size_t bytes = 0;
  };
  static void erase(State& state, const std::string& id);
  static void expire(State& state, Instant now);

  const Options options_;
  Guarded<State> state_;
};

}  // namespace weft::coordinator
