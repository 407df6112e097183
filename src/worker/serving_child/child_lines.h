// Lines to other members in the confined process: they are the parent's.
//
// Threading: the loop's thread. Lifetime: the loop outlives it.
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

  // A frame of a line. False if it is another.
  bool take(const Frame& frame);

  void open(Chain chain, Events events) override;
  void signal(std::uint32_t /*chain*/, std::uint32_t /*epoch*/, std::uint32_t /*from*/,
              std::string /*text*/) override {}  // Between browsers only.
  [[nodiscard]] bool send(std::uint32_t chain, std::uint32_t member, ByteSpan frame) override;
  void close(std::uint32_t chain) override;

 private:
  struct Opened {
    std::uint32_t epoch = 0;
    Events events;
    std::set<std::uint32_t> members{};  // Whose lines are open.
  };

  ChildLoop& loop_;
  std::map<std::uint32_t, Opened> chains_;
};

}  // namespace weft::worker
