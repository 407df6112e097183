// Fuzzes messages between workers that serve models and the coordinator, and small texts of both
// sides (offers of prices, heads of messages): each is refused, or read and written in one form.
#include "common/base/bytes.h"
#include "common/base/check.h"
#include "common/protocol/capabilities.h"
#include "common/protocol/price_offer.h"
#include "common/protocol/serving.h"
#include "common/protocol/versions.h"
#include "decisions/inference/vectors.h"

using namespace weft;
namespace wire = protocol::serving;

namespace {

template <class Message>
void writes_stably(const Message& message, Result<Message> (*decode)(std::string_view)) {
  const std::string text = encode(message);
  const auto again = decode(text);
  check(again.has_value(), "what was read is written readably");
  check(encode(*again) == text, "a message has one written form");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = as_text(ByteSpan(data, size));
  if (const auto message = wire::decode_worker(text)) {
    writes_stably(*message, wire::decode_worker);
    if (const auto* answered = std::get_if<wire::Answered>(&*message)) {
      const auto vector = inference::read_vector(answered->vector, 4);
      check(!vector || vector->size() == 4, "a vector has its width");
    }
  }
  if (const auto message = wire::decode_coordinator(text))
    writes_stably(*message, wire::decode_coordinator);
  if (const auto offer = protocol::read_offer(text))
    check(protocol::read_offer(protocol::offer_text(*offer)).has_value(),
          "an offer that was read is written readably");
  if (const auto capabilities = protocol::decode_capabilities(text)) {
    const std::string written = protocol::encode(*capabilities);
    const auto again = protocol::decode_capabilities(written);
    check(again && protocol::encode(*again) == written, "capabilities have one written form");
  }
  if (const auto head = protocol::read_head(text))
    check(!head->offered.empty(), "a message offers a version");
  return 0;
}
