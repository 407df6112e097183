// Fuzzes requests of the OpenAI-compatible routes: each is refused with a document that names its
// place, or becomes a valid order to a worker.
#include "apps/coordinator/http/looks.h"
#include "apps/coordinator/http/openai.h"
#include "apps/coordinator/http/responses.h"
#include "common/base/bytes.h"
#include "common/base/check.h"
#include "common/json/json.h"
#include "common/protocol/messages.h"

using namespace weft;
using coordinator::OpenAiRequest;

namespace {

void look_at(Result<OpenAiRequest> read) {
  if (!read) {
    check(!read.error().message.empty(), "a refusal says why");
    check(json::parse(coordinator::openai_error_json(read.error())).has_value(),
          "a refusal is a document");
    return;
  }
  if (read->response && !coordinator::go_on(*read, nullptr)) return;
  for (const std::string& prompt : read->prompts) {
    check(!read->chat || json::parse(prompt, {.bytes_max = std::size_t{1} << 24}).has_value(),
          "a template is rendered with JSON");
    protocol::serving::Ask ask = read->ask;
    ask.calls = prompt;
    ask.prompt.assign(4096, 99'999);
    const std::string text = encode(protocol::serving::ServingCoordinatorMessage(ask));
    check(text.size() <= protocol::frame_bytes_max, "an ask fits into a frame");
    const auto decoded = protocol::serving::decode_coordinator(text);
    check(decoded.has_value(), "a worker can read what it is asked");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = as_text(ByteSpan(data, size));
  look_at(coordinator::read_chat_request(text, 1));
  look_at(coordinator::read_completion_request(text, 1));
  look_at(coordinator::read_response_request(text, 1));
  look_at(coordinator::read_tokenize_request(text));
  look_at(coordinator::read_detokenize_request(text));
  look_at(coordinator::read_template_request(text));
  return 0;
}
