// The routes /v1/chat/completions, /v1/completions, /v1/embeddings, /v1/responses, /tokenize,
// /detokenize and /apply-template. Errors have OpenAI's format.
#include "apps/coordinator/http/asking.h"
#include "apps/coordinator/http/embeddings.h"
#include "apps/coordinator/http/http.h"
#include "apps/coordinator/http/looks.h"
#include "apps/coordinator/http/responses.h"
#include "common/base/clock.h"
#include "common/base/format.h"
#include "common/json/quote.h"

namespace weft::coordinator {

namespace {

using Reader = Result<OpenAiRequest> (*)(std::string_view body);

// Reads a request with `read` and asks the model. A request that cannot be read is not counted.
void answer_request(const HttpParts& parts, Reader read, const net::IncomingRequest& request,
                    const net::Respond& respond) {
  const auto asker = asker_of(parts, request);
  if (!asker) return refuse_asker(asker.error(), respond);
  auto asked = read(request.body);
  if (!asked) return respond(openai_error(asked.error()));
  ask(parts, *asker, std::move(*asked), request, respond);
}

// Guests cannot store responses, because they have no name that would keep their responses apart.
constexpr std::string_view no_guests =
    "Responses are stored for clients with an API key; send the header \"Authorization: Bearer "
    "KEY\" "
    "(`weft key add` makes one).";

void respond_to(const HttpParts& parts, const net::IncomingRequest& request,
                const net::Respond& respond) {
  const auto asker = asker_of(parts, request);
  if (!asker) return refuse_asker(asker.error(), respond);
  auto asked = read_response_request(request.body, random_seed());
  if (!asked) return respond(openai_error(asked.error()));
  const bool keeps = asked->response->store || !asked->response->previous.empty();
  if (asker->is_guest && keeps)
    return respond(openai_error({ErrorCode::permission_denied, std::string(no_guests)},
                                asked->response->store ? "store" : "previous_response_id"));
  const auto go = [&parts, asker = *asker, request, respond,
                   asked = std::move(*asked)](std::string owner) mutable {
    ResponseRequest& response = *asked.response;
    response.kept = &parts.responses;
    response.owner = std::move(owner);
    std::shared_ptr<const StoredResponse> before;
    if (!response.previous.empty()) {
      auto found = parts.responses.find(response.previous, response.owner, now());
      if (!found)
        return respond(openai_error({ErrorCode::invalid_argument, found.error().message},
                                    "previous_response_id"));
      before = std::move(*found);
    }
    if (auto gone_on = go_on(asked, before.get()); !gone_on)
      return respond(openai_error(gone_on.error()));
    ask(parts, asker, std::move(asked), request, respond);
  };
  if (!keeps) return std::function<void(std::string)>(go)({});
  with_owner(parts, *asker, respond, go);
}

// Calls a function with a stored response of the client.
void with_stored(const HttpParts& parts, const net::IncomingRequest& request,
                 const net::Respond& respond,
                 std::function<void(const std::string& id, const std::string& owner)> go) {
  const auto asker = asker_of(parts, request);
  if (!asker) return refuse_asker(asker.error(), respond);
  if (asker->is_guest)
    return respond(openai_error({ErrorCode::permission_denied, std::string(no_guests)}));
  with_owner(parts, *asker, respond,
             [id = request.parameters.at(0), go = std::move(go)](const std::string& owner) {
               go(id, owner);
             });
}

}  // namespace

void add_answer_routes(const HttpParts& parts) {
  const auto kept = std::make_shared<const HttpParts>(parts);
  const auto add = [&](const char* pattern, auto handle, double cost = 1) {
    parts.server.route(
        {.method = "POST",
         .pattern = pattern,
         .handle = [kept, handle](const net::IncomingRequest& request,
                                  const net::Respond& respond) { handle(*kept, request, respond); },
         .cost = cost,
         .body_bytes_max = question_bytes_max});
  };
  const auto by = [](Reader read) {
    return [read](const HttpParts& all, const net::IncomingRequest& request,
                  const net::Respond& respond) { answer_request(all, read, request, respond); };
  };
  add("/v1/chat/completions",
      by([](std::string_view body) { return read_chat_request(body, random_seed()); }));
  add("/v1/completions",
      by([](std::string_view body) { return read_completion_request(body, random_seed()); }));
  add("/v1/embeddings", by(read_embedding_request));
  add("/v1/responses", respond_to);
  add("/tokenize", by(read_tokenize_request));
  add("/detokenize", by(read_detokenize_request));
  add("/apply-template", by(read_template_request));

  const auto stored = [&](const char* method, auto handle) {
    parts.server.route(
        {.method = method,
         .pattern = "/v1/responses/{}",
         .handle =
             [kept, handle](const net::IncomingRequest& request, const net::Respond& respond) {
               with_stored(
                   *kept, request, respond,
                   [kept, respond, handle](const std::string& id, const std::string& owner) {
                     handle(kept->responses, id, owner, respond);
                   });
             },
         .cost = 0.5});
  };
  stored("GET", [](ResponseStore& responses, const std::string& id, const std::string& owner,
                   const net::Respond& respond) {
    const auto found = responses.find(id, owner, now());
    respond(found ? net::json_reply(200, (*found)->document) : openai_error(found.error(), "id"));
  });
  stored("DELETE", [](ResponseStore& responses, const std::string& id, const std::string& owner,
                      const net::Respond& respond) {
    const auto removed = responses.remove(id, owner, now());
    respond(removed ? net::json_reply(
                          200, weft::format(R"({{"id":{},"object":"response","deleted":true}})",
                                            json::quote(id)))
                    : openai_error(removed.error(), "id"));
  });
}

}  // namespace weft::coordinator
