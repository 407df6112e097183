// Fuzzes grammars: each is refused with a sentence, or it can be followed. No byte leads out of its
// states, and the shortest way from the end of a walk gives a text that the grammar accepts.
#include "common/base/bytes.h"
#include "common/base/check.h"
#include "engine/grammar/gbnf.h"
#include "engine/grammar/matcher.h"

using namespace weft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto made = grammar::parse_gbnf(as_text(ByteSpan(data, size)));
  if (!made) {
    check(made.error().message.ends_with('.'), "a refusal is a sentence");
    return 0;
  }
  using grammar::Matcher;
  Matcher matcher(
      std::make_shared<const grammar::Grammar>(std::move(*made)),
      {.states_max = 2000, .entries_max = 200'000, .stacks_max = 2000, .steps_max = 200'000});
  Matcher::State state = matcher.start();
  for (std::size_t i = 0; i < 40 && state < Matcher::full && !matcher.is_complete(state); ++i) {
    const grammar::ByteSet possible = matcher.possible(state);
    check(possible.count() > 0, "what is not complete can go on");
    auto skip = (i * 7 + size) % static_cast<std::size_t>(possible.count());
    for (unsigned byte = 0; byte < 256; ++byte) {
      if (!possible.has(static_cast<std::uint8_t>(byte)) || skip-- > 0) continue;
      state = matcher.next(state, static_cast<std::uint8_t>(byte));
      check(state != Matcher::dead, "a possible byte can follow");
      break;
    }
  }
  if (state < Matcher::full) (void)matcher.forced_text(state, 100);
  for (int i = 0; i < 200 && state < Matcher::full && !matcher.accepts(state); ++i) {
    const std::uint32_t needed = matcher.least_bytes(state);
    Matcher::State best = Matcher::dead;
    for (unsigned byte = 0; byte < 256; ++byte) {
      const Matcher::State to = matcher.next(state, static_cast<std::uint8_t>(byte));
      if (to == Matcher::full) return 0;
      if (to != Matcher::dead && matcher.least_bytes(to) < needed) best = to;
    }
    check(best != Matcher::dead || needed >= grammar::Grammar::least_bytes_max,
          "a byte brings the end nearer");
    state = best;
  }
  return 0;
}
