// A chain of charges whose last blocks may be lost to a fork.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace weft::settlement {

class ChargedChain {
 public:
  static constexpr std::uint64_t final_slots = 32;
  explicit ChargedChain(std::mt19937_64& random) : random_(random) {}

  void pass(std::uint64_t slots) { slot_ += slots; }
  void charge(int owner, std::uint64_t amount) { blocks_.push_back({++slot_, owner, amount}); }
  void fork() {
    while (!blocks_.empty() && blocks_.back().slot + final_slots > slot_ && random_() % 4 != 0)
      blocks_.pop_back();
  }
  [[nodiscard]] std::uint64_t charged(int owner, bool final_only) const {
    std::uint64_t sum = 0;
    for (const Block& block : blocks_)
      if (block.owner == owner && (!final_only || block.slot + final_slots <= slot_))
        sum += block.amount;
    return sum;
  }

 private:
  struct Block {
    std::uint64_t slot;
    int owner;
    std::uint64_t amount;
  };
  std::mt19937_64& random_;
  std::uint64_t slot_ = 1;
  std::vector<Block> blocks_;
};

}  // namespace weft::settlement
