// The client that asks a model, and whether it may: with an API key its rates and budgets are taken
// up before the request continues. Refusals are in OpenAI's shape.
//
// Threading: as http.h.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "apps/coordinator/http/http.h"

namespace weft::coordinator {

// Length of bodies that openai.h, responses.h and looks.h read.
inline constexpr std::uint64_t question_bytes_max = std::uint64_t{4} << 20;

// Without keys being required, whatever is no key of this coordinator's form is passed over:
// clients must send something.
struct Asker {
  std::optional<Hash> key{};  // Hash of its secret; without one no owner is charged.
  bool is_guest = false;
  bool stays_here = false;  // Its key forbids that another endpoint answers.
};
[[nodiscard]] Result<Asker> asker_of(const HttpParts& parts, const net::IncomingRequest& request);
void refuse_asker(const Error& error, const net::Respond& respond);

// What has to be so for another endpoint to answer in the network's place; tests turn each off.
struct PassingOnRules {
  bool if_asked = true;       // The request allows it.
  bool not_of_guests = true;  // Guests would spend the operator's money.
  bool not_of_keys_that_stay = true;
};
[[nodiscard]] bool may_pass_on(const Asker& asker, bool is_allowed,
                               const PassingOnRules& rules = {});

// For requests that name none.
[[nodiscard]] std::uint64_t random_seed();

// Asks the model when the key admits it.
void ask(const HttpParts& parts, const Asker& asker, OpenAiRequest asked,
         const net::IncomingRequest& request, const net::Respond& respond);

// `go` with the client whose key it is; empty if there is no key. An unknown key is refused.
void with_owner(const HttpParts& parts, const Asker& asker, const net::Respond& respond,
                std::function<void(std::string owner)> go);

// Reading what models there are takes a key where asking them does.
void with_access(const HttpParts& parts, const net::IncomingRequest& request,
                 const net::Respond& respond, std::function<void()> show);

}  // namespace weft::coordinator
