// The chain that answered each conversation last, which may still hold the conversation's earlier
// turns in its cache. Bounds: conversations_max conversations; the oldest are forgotten first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>

#include "decisions/inference/serving_ids.h"

namespace weft::inference {

class Conversations {
 public:
  static constexpr std::size_t conversations_max = 4096;

  // Returns no chain for an unknown conversation.
  [[nodiscard]] ChainId chain_of(std::uint64_t conversation) const {
    const auto found = chains_.find(conversation);
    return found == chains_.end() ? ChainId() : found->second;
  }
  void answered_by(std::uint64_t conversation, ChainId chain) {
    if (!chains_.contains(conversation)) order_.push_back(conversation);
    chains_[conversation] = chain;
    if (order_.size() <= conversations_max) return;
    chains_.erase(order_.front());
    order_.pop_front();
  }

 private:
  std::map<std::uint64_t, ChainId> chains_;
  std::deque<std::uint64_t> order_;
};

}  // namespace weft::inference
