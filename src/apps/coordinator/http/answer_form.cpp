#include "apps/coordinator/http/answer_form.h"

#include "apps/coordinator/http/answer_text.h"
#include "apps/coordinator/http/embeddings.h"
#include "apps/coordinator/http/looks.h"
#include "apps/coordinator/http/response_text.h"
#include "common/crypto/keys.h"

namespace weft::coordinator {

std::unique_ptr<AnswerForm> make_answer_form(const OpenAiRequest& request, std::int64_t created) {
  if (request.response) return std::make_unique<ResponseText>(request, created);
  if (request.embedding) return std::make_unique<EmbeddingText>(request);
  if (request.look.kind != TextLook::Kind::none)
    return std::make_unique<LookText>(request.look.kind);
  Hash random;
  crypto::random_bytes(random.bytes);
  return std::make_unique<AnswerText>(
      request, (request.chat ? "chatcmpl-" : "cmpl-") + random.text().substr(0, 24), created);
}

}  // namespace weft::coordinator
