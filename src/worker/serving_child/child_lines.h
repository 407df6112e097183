// Direct links to other members for the confined process; the parent holds the connections.
//
// Threading: the loop's thread. Lifetime: the loop outlives this object.
#pragma once

#include <map>
#include <set>
#include <utility>

#include "worker/inference/serving.h"
#include "worker/serving_child/child_loop.h"

namespace weft::worker {

class ChildLines final : public PeerLines {
 public:
  explicit ChildLines(ChildLoop& loop) : loop_(loop) {}

  // Handles a frame about a link. Returns false for any other frame.
  bool take(const Frame& frame);

  void open(Chain chain, Events events) override;
  void signal(std::uint32_t /*chain*/, std::uint32_t /*epoch*/, std::uint32_t /*from*/,
              // Does nothing: only links between browsers need signals.
              std::string /*text*/) override {}
  [[nodiscard]] bool send(std::uint32_t chain, std::uint32_t member, ByteSpan frame) override;
  void close(std::uint32_t chain) override;

 private:
  struct Opened {
    std::uint32_t epoch = 0;
    Events events;
    std::set<std::uint32_t> members{};  // The members with an open link.
  };

  ChildLoop& loop_;
  std::map<std::uint32_t, Opened> chains_;
};

}  // namespace weft::worker
