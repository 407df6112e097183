#include "engine/llm/sequence_slots.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"

namespace weft::llm {

namespace {

// The least number of prompt tokens that sharing must save. A slot shares the positions of another
// slot only if that slot has read more of the prompt by at least this number.
constexpr std::size_t shared_least = 64;

std::size_t common_prefix(const std::vector<Token>& a, const std::vector<Token>& b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

}  // namespace

SequenceSlots::~SequenceSlots() {
  for (const auto& slot : slots_) engine_.close(slot->sequence);
}

bool SequenceSlots::any_answers() const {
  return std::ranges::any_of(slots_, [](const auto& slot) { return slot->answer != nullptr; });
}

// Returns the free slot that has read the longest beginning of the prompt. A fresh slot is better
// than a free slot that has read none of the prompt; of several such free slots, the one that was
// used the longest time ago is taken.
GeneratorSlot* SequenceSlots::free_for(const std::vector<Token>& prompt) {
  GeneratorSlot* best = nullptr;
  std::size_t best_common = 0;
  for (const auto& slot : slots_) {
    if (slot->answer) continue;
    const std::size_t common = common_prefix(slot->tokens, prompt);
    if (best != nullptr &&
        (common < best_common || (common == best_common && slot->used >= best->used)))
      continue;
    best = slot.get();
    best_common = common;
  }
  if (best_common == 0 && slots_.size() < engine_.options().sequences) {
    if (GeneratorSlot* const fresh = open_slot()) return fresh;
  }
  return best;
}

GeneratorSlot* SequenceSlots::open_slot() {
  auto sequence = engine_.open();
  if (!sequence) return nullptr;
  slots_.push_back(std::make_unique<GeneratorSlot>());
  slots_.back()->sequence = *sequence;
  return slots_.back().get();
}

// Keeps the part of the prompt that `slot` has read, or shares the part that another slot,
// answering or free, has read, if that part is larger. Returns the number of tokens that the slot
// then has.
std::uint32_t SequenceSlots::begin_with_what_is_read(GeneratorSlot& slot,
                                                     const std::vector<Token>& prompt) {
  // The last token of the prompt is always read again, because the logits after it are needed.
  const auto known = [&](const GeneratorSlot& one) {
    return std::min({common_prefix(one.tokens, prompt), one.read(), prompt.size() - 1});
  };
  const GeneratorSlot* giver = nullptr;
  std::size_t most = known(slot) + shared_least;
  for (const auto& one : slots_) {
    if (one.get() == &slot || known(*one) < most) continue;
    giver = one.get();
    most = known(*one) + 1;
  }
  if (giver != nullptr) {
    (void)engine_.rewind(slot.sequence, 0);
    slot.tokens.clear();
    const std::uint32_t shared =
        engine_.share(giver->sequence, slot.sequence, static_cast<std::uint32_t>(known(*giver)));
    slot.tokens.assign(giver->tokens.begin(),
                       giver->tokens.begin() + static_cast<std::ptrdiff_t>(shared));
    if (shared > 0) return shared;
  }
  const std::size_t common = known(slot);
  const std::uint32_t kept = engine_.rewind(slot.sequence, static_cast<std::uint32_t>(common));
  check(kept <= common, "an engine keeps at most what it is asked to");
  slot.tokens.resize(kept);
  return kept;
}

// Reserves memory for a whole answer before it begins. If there is not enough, closes free slots,
// the least recently used first.
Result<> SequenceSlots::reserve(GeneratorSlot& slot, const Request& request) {
  const auto positions = static_cast<std::uint32_t>(std::min<std::uint64_t>(
      engine_.options().context, request.prompt.size() + std::uint64_t{request.tokens_max} + 1));
  while (true) {
    auto reserved = engine_.reserve(slot.sequence, positions);
    if (reserved || reserved.error().code != ErrorCode::resource_exhausted) return reserved;
    auto oldest = slots_.end();
    for (auto one = slots_.begin(); one != slots_.end(); ++one) {
      if ((*one)->answer || one->get() == &slot) continue;
      if (oldest == slots_.end() || (*one)->used < (*oldest)->used) oldest = one;
    }
    if (oldest == slots_.end()) return reserved;
    engine_.close((*oldest)->sequence);
    slots_.erase(oldest);
  }
}

std::unique_ptr<RunningAnswer> SequenceSlots::release(GeneratorSlot& slot) {
  slot.tokens.resize(slot.tokens.size() - std::exchange(slot.unread, 0));
  // The engine may have drawn tokens ahead, which are taken back.
  slot.tokens.resize(engine_.rewind(slot.sequence, static_cast<std::uint32_t>(slot.tokens.size())));
  engine_.keep_hidden(slot.sequence, 0, 0);
  (void)engine_.reserve(slot.sequence, 0);
  slot.used = ++uses_;
  return std::move(slot.answer);
}

std::unique_ptr<RunningAnswer> SequenceSlots::abandon(GeneratorSlot& slot) {
  slot.tokens.clear();
  slot.unread = 0;
  (void)engine_.rewind(slot.sequence, 0);
  engine_.keep_hidden(slot.sequence, 0, 0);
  (void)engine_.reserve(slot.sequence, 0);
  return std::move(slot.answer);
}

}  // namespace weft::llm
