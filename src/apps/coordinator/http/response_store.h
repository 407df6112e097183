// Responses that their clients asked to keep ("store": true). GET /v1/responses/ID shows them, and
// previous_response_id continues their conversations. Each response belongs to one owner; other
// owners cannot find it. A response is removed after `keep` and when the process ends. If an owner
// exceeds its share, its own oldest responses are removed first.
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
  std::string owner;               // A client's key. If it is empty, the id alone gives access.
  std::string document;            // The response as it was sent.
  std::string messages;            // The conversation so far for the template, without brackets.
  std::uint64_t conversation = 0;  // See AnswerRequest::conversation.
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

  // Fails with resource_exhausted if all owners together have used up the room, or if the response
  // is larger than an owner's share.
  [[nodiscard]] Result<> put(const std::string& id, StoredResponse response, Instant now);
  // Fails with not_found if the response does not exist or belongs to another owner.
  [[nodiscard]] Result<std::shared_ptr<const StoredResponse>> find(const std::string& id,
                                                                   const std::string& owner,
                                                                   Instant now);
  [[nodiscard]] Result<> remove(const std::string& id, const std::string& owner, Instant now);
  // Returns all responses of an owner, the oldest first.
  [[nodiscard]] std::vector<std::shared_ptr<const StoredResponse>> of(const std::string& owner,
                                                                      Instant now);
  void remove_of(const std::string& owner);

 private:
  struct Owner {
    std::size_t bytes = 0;
    std::multimap<Instant, std::string> ids{};  // Sorted by end, which is the order of arrival.
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
