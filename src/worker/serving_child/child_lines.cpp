#include "worker/serving_child/child_lines.h"

namespace weft::worker {

bool ChildLines::take(const Frame& frame) {
  const auto kind = static_cast<ServingFrame>(frame.kind);
  if (kind < ServingFrame::line_open || kind > ServingFrame::line_closed) return false;
  Unpacker in(frame.payload);
  const auto event = unpack_line_event(in);
  const auto bytes = in.bytes();
  if (!event || !bytes) return true;
  const auto found = chains_.find(event->chain);
  if (found == chains_.end() || found->second.epoch != event->epoch) return true;
  // The callbacks are copied, because an event may close the chain.
  const Events events = found->second.events;
  if (kind == ServingFrame::line_open) {
    found->second.members.insert(event->member);
    events.open(event->member, as_text(*bytes));
  } else if (kind == ServingFrame::line_frame) {
    events.frame(event->member, ByteVector(bytes->begin(), bytes->end()));
  } else {
    found->second.members.erase(event->member);
    events.closed(event->member);
  }
  return true;
}

void ChildLines::open(Chain chain, Events events) {
  loop_.send(ServingFrame::lines_open, pack(chain));
  chains_[chain.chain] = {.epoch = chain.epoch, .events = std::move(events)};
}

bool ChildLines::send(std::uint32_t chain, std::uint32_t member, ByteSpan frame) {
  const auto found = chains_.find(chain);
  if (found == chains_.end() || !found->second.members.contains(member)) return false;
  loop_.send(ServingFrame::lines_send, Packer().number(chain).number(member).bytes(frame).take());
  return true;
}

void ChildLines::close(std::uint32_t chain) {
  chains_.erase(chain);
  loop_.send(ServingFrame::lines_close, Packer().number(chain).take());
}

}  // namespace weft::worker
