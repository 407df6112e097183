// Admits clients to models. A request with an API key is charged to the key's rates and budgets
// before it continues. Refusals are in OpenAI's format.
//
// Threading: that of the handlers in http.h.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "apps/coordinator/http/http.h"

namespace weft::coordinator {

// The size limit of request bodies that openai.h, responses.h and looks.h read.
inline constexpr std::uint64_t question_bytes_max = std::uint64_t{4} << 20;

// The client that asks a model. If the coordinator requires no keys, a bearer token that is not one
// of its keys is ignored, because OpenAI's clients must send some token.
struct Asker {
  std::optional<Hash> key{};  // Hash of the secret; empty if no owner is charged.
  bool is_guest = false;
  bool stays_here = false;  // The key forbids answers of a fallback endpoint.
};
[[nodiscard]] Result<Asker> asker_of(const HttpParts& parts, const net::IncomingRequest& request);
void refuse_asker(const Error& error, const net::Respond& respond);

// The conditions under which a fallback endpoint may answer instead of the network. Tests turn them
// off one by one.
struct PassingOnRules {
  bool if_asked = true;       // Uses the fallback only if the request allows it.
  bool not_of_guests = true;  // Refuses guests, because they would cost the operator money.
  bool not_of_keys_that_stay = true;
};
[[nodiscard]] bool may_pass_on(const Asker& asker, bool is_allowed,
                               const PassingOnRules& rules = {});

// A random seed for requests without a seed.
[[nodiscard]] std::uint64_t random_seed();

// Admits the request with the client's key and passes it to the model service.
void ask(const HttpParts& parts, const Asker& asker, OpenAiRequest asked,
         const net::IncomingRequest& request, const net::Respond& respond);

// Calls `go` with the owner of the client's API key, or with an empty text if the client has no
// key. An unknown key is refused.
void with_owner(const HttpParts& parts, const Asker& asker, const net::Respond& respond,
                std::function<void(std::string owner)> go);

// Calls `show` if the client may list the models: a key is required if asking models requires one.
void with_access(const HttpParts& parts, const net::IncomingRequest& request,
                 const net::Respond& respond, std::function<void()> show);

}  // namespace weft::coordinator
