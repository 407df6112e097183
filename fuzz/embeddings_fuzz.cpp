// Fuzzes requests for embeddings: each is refused with a document that names its place, or becomes
// texts and lists of tokens for a worker. The vectors that the worker returns make a document.
#include "apps/coordinator/http/embeddings.h"
#include "apps/coordinator/http/openai.h"
#include "common/base/bytes.h"
#include "common/base/check.h"
#include "common/json/json.h"
#include "common/protocol/messages.h"

using namespace weft;

namespace {

void fits_into_a_frame(protocol::serving::Ask ask) {
  const std::string text = encode(protocol::serving::ServingCoordinatorMessage(ask));
  check(text.size() <= protocol::frame_bytes_max, "an ask fits into a frame");
  check(protocol::serving::decode_coordinator(text).has_value(),
        "a worker can read what it is asked");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read = coordinator::read_embedding_request(as_text(ByteSpan(data, size)));
  if (!read) {
    check(!read.error().message.empty(), "a refusal says why");
    check(json::parse(coordinator::openai_error_json(read.error())).has_value(),
          "a refusal is a document");
    return 0;
  }
  const coordinator::EmbeddingRequest& what = *read->embedding;
  check(read->prompts.empty() != what.tokens.empty(), "there are texts, or lists of tokens");
  check(read->prompt_count() <= coordinator::EmbeddingRequest::texts_max, "texts are bounded");
  for (const std::string& prompt : read->prompts) {
    check(!prompt.empty(), "a text has bytes");
    protocol::serving::Ask ask = read->ask;
    // A prompt of the longest length and of the largest tokens.
    ask.prompt.assign(protocol::serving::prompt_tokens_max, 99'999);
    fits_into_a_frame(std::move(ask));
    break;  // One text is enough: the frames of the others differ only in their tokens.
  }
  for (const std::vector<std::int32_t>& tokens : what.tokens) {
    check(!tokens.empty(), "a list has tokens");
    protocol::serving::Ask ask = read->ask;
    ask.prompt = tokens;
    fits_into_a_frame(std::move(ask));
  }
  coordinator::EmbeddingText form(*read);
  for (std::size_t i = form.choices(); i-- > 0;) {
    inference::AnswerEnd end{.reason = "eos", .prompt_tokens = 3};
    end.vector = {0.6f, 0, 0.8f};
    check(form.end(i, end).empty(), "vectors are not streamed");
  }
  check(json::parse(form.document(), {.bytes_max = std::size_t{1} << 24}).has_value(),
        "vectors make a document");
  return 0;
}
