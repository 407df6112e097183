#include "apps/worker/web/web_lines.h"

#include <emscripten/emscripten.h>

#include "apps/worker/web/serving_imports.h"
#include "common/base/format.h"

namespace weft::worker::web {
namespace {

WebLines* current = nullptr;

}  // namespace

WebLines::WebLines() { current = this; }
WebLines::~WebLines() {
  for (const auto& [chain, lines] : lines_) weft_lines_close(chain);
  if (current == this) current = nullptr;
}

void WebLines::open(Chain chain, Events events) {
  lines_[chain.chain] = {.epoch = chain.epoch, .events = std::move(events)};
  std::string list;
  for (const Other& other : chain.others)
    list += weft::format("{}{}", list.empty() ? "" : ",", other.member);
  const std::string ice = protocol::serving::encode(chain.ice);
  weft_lines_open(chain.chain, chain.epoch, chain.index, list.data(),
                  static_cast<std::uint32_t>(list.size()), ice.data(),
                  static_cast<std::uint32_t>(ice.size()));
}

void WebLines::signal(std::uint32_t chain, std::uint32_t epoch, std::uint32_t from,
                      std::string text) {
  weft_lines_signal(chain, epoch, from, text.data(), static_cast<std::uint32_t>(text.size()));
}

bool WebLines::send(std::uint32_t chain, std::uint32_t member, ByteSpan frame) {
  return weft_lines_send(chain, member, frame.data(), static_cast<std::uint32_t>(frame.size())) !=
         0;
}

void WebLines::close(std::uint32_t chain) {
  if (lines_.erase(chain) > 0) weft_lines_close(chain);
}

void WebLines::news(News kind, std::uint32_t chain, std::uint32_t epoch, std::uint32_t member,
                    ByteSpan data) {
  if (current == nullptr) return;
  const auto found = current->lines_.find(chain);
  if (found == current->lines_.end() || found->second.epoch != epoch) return;
  // Copied, because an event may close the links.
  const Events events = found->second.events;
  switch (kind) {
    case News::signal:
      return events.signal(member, std::string(as_text(data)));
    case News::frame:
      return events.frame(member, ByteVector(data.begin(), data.end()));
    case News::open:
      return events.open(member, "webrtc");
    case News::closed:
      return events.closed(member);
  }
}

}  // namespace weft::worker::web

extern "C" {
EMSCRIPTEN_KEEPALIVE void weft_line_news(int kind, std::uint32_t chain, std::uint32_t epoch,
                                         std::uint32_t member, const std::uint8_t* data,
                                         std::uint32_t size) {
  using weft::worker::web::WebLines;
  WebLines::news(static_cast<WebLines::News>(kind), chain, epoch, member, {data, size});
}
}
