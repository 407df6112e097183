#include "apps/bench/model_speed.h"

#include <algorithm>
#include <chrono>
#include <random>

#include "common/base/check.h"
#include "common/base/format.h"

namespace weft::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begun) {
  return std::chrono::duration<double>(Clock::now() - begun).count();
}

std::vector<llm::Token> random_tokens(std::uint32_t count, std::uint32_t vocabulary) {
  std::mt19937 random(1);
  std::vector<llm::Token> tokens(count);
  for (llm::Token& token : tokens) token = static_cast<llm::Token>(random() % vocabulary);
  return tokens;
}

// The work of one round. Each coroutine ends when the device has finished the measured work and a
// token has come back.
class Rounds {
 public:
  Rounds(llm::Engine& engine, const SpeedTests& tests, const Stop& stop)
      : engine_(engine),
        tests_(tests),
        stop_(stop),
        text_(random_tokens(tests.context(), engine.config().vocabulary)) {}
  Rounds(const Rounds&) = delete;
  ~Rounds() {
    for (const llm::SequenceId id : open_) engine_.close(id);
  }

  Async<Result<double>> prefill() {
    WEFT_CO_OK(open(1));
    (void)engine_.rewind(open_[0], 0);
    const auto begun = Clock::now();
    WEFT_CO_OK(co_await engine_.append(open_[0], first_tokens(tests_.prompt)));
    std::vector<llm::SequenceId> one{open_[0]};
    WEFT_CO_OK(co_await engine_.draw(one, 0));
    co_return seconds_since(begun);
  }

  // Fills every sequence to `depth` positions, untimed. Decoding needs at least one position.
  Async<Result<>> fill(std::uint32_t depth, std::uint32_t sequences) {
    WEFT_CO_OK(open(sequences));
    depth = std::max(depth, 1u);
    for (const llm::SequenceId id : open_) {
      // Positions of an earlier round are reused, except the last token, which must be read again
      // for its logits. A recurrent model cannot rewind and starts from the beginning.
      std::uint32_t done = engine_.rewind(id, depth - 1);
      while (done < depth && !stop_()) {
        constexpr std::uint32_t part_max = 512;
        const std::uint32_t part = std::min(part_max, depth - done);
        std::vector<llm::Token> tokens(text_.begin() + done, text_.begin() + done + part);
        WEFT_CO_OK(co_await engine_.append(id, std::move(tokens)));
        done += part;
      }
    }
    co_return Result<>();
  }

  // Decodes `tokens` tokens of each sequence, after one untimed token that completes the prefill.
  // Returns the seconds, or 0 if stopped.
  Async<Result<double>> decode(std::uint32_t tokens) {
    if (stop_()) co_return 0.0;
    WEFT_CO_OK(co_await engine_.draw(open_, 0));
    before_ = engine_.counters();
    const auto begun = Clock::now();
    for (std::uint32_t i = 0; i < tokens; ++i) {
      if (stop_()) co_return 0.0;
      WEFT_CO_OK(co_await engine_.draw(open_, tokens - 1 - i));
    }
    const double taken = seconds_since(begun);
    after_ = engine_.counters();
    co_return taken;
  }

  // Dispatches and submits of a step in the last decode().
  [[nodiscard]] double dispatches_a_step() const {
    return a_step(after_.decode_dispatches - before_.decode_dispatches);
  }
  [[nodiscard]] double submits_a_step() const {
    return a_step(after_.decode_submits - before_.decode_submits);
  }

 private:
  Result<> open(std::uint32_t sequences) {
    while (open_.size() > sequences) {
      engine_.close(open_.back());
      open_.pop_back();
    }
    while (open_.size() < sequences) {
      WEFT_ASSIGN(const llm::SequenceId id, engine_.open());
      open_.push_back(id);
    }
    return {};
  }
  [[nodiscard]] std::vector<llm::Token> first_tokens(std::uint32_t count) const {
    return {text_.begin(), text_.begin() + count};
  }
  [[nodiscard]] double a_step(std::uint64_t count) const {
    const std::uint64_t steps = after_.decode_steps - before_.decode_steps;
    return steps == 0 ? 0 : static_cast<double>(count) / static_cast<double>(steps);
  }

  llm::Engine& engine_;
  const SpeedTests& tests_;
  const Stop& stop_;
  const std::vector<llm::Token> text_;
  std::vector<llm::SequenceId> open_;
  llm::EngineCounters before_, after_;
};

std::string decode_name(std::uint32_t tokens, std::uint32_t depth, std::uint32_t sequences) {
  return weft::format("tg{}{}{}", tokens, depth == 0 ? "" : weft::format("@{}", depth),
                      sequences == 1 ? "" : weft::format("x{}", sequences));
}

// Measures tests in rounds. A warm-up with the work of a test runs before the test, so that no work
// is timed when it is done for the first time.
class Measurement {
 public:
  Measurement(LanguageModel& model, const SpeedTests& tests, const SpeedProgress& progress,
              const Stop& stop)
      : model_(model),
        tests_(tests),
        progress_(progress),
        stop_(stop),
        rounds_(model.engine(), tests, stop) {}

  Result<Speed> prefill() {
    Speed speed{.test = weft::format("pp{}", tests_.prompt), .tokens = tests_.prompt, .rates = {}};
    const auto once = [&]() -> Result<double> { return model_.run(rounds_.prefill()); };
    WEFT_OK(warm_up(speed.test, once));
    for (std::uint32_t round = 0; round < tests_.rounds && !stop_(); ++round) {
      progress_(speed.test, round, tests_.rounds);
      const llm::EngineCounters before = model_.engine().counters();
      WEFT_ASSIGN(const double taken, once());
      const llm::EngineCounters after = model_.engine().counters();
      speed.rates.push_back(tests_.prompt / taken);
      speed.dispatches = static_cast<double>(after.dispatches - before.dispatches) / tests_.prompt;
      speed.submits = static_cast<double>(after.submits - before.submits) / tests_.prompt;
    }
    return speed;
  }

  Result<Speed> decode(std::uint32_t depth, std::uint32_t sequences) {
    Speed speed{.test = decode_name(tests_.tokens, depth, sequences),
                .tokens = tests_.tokens * sequences,
                .depth = depth,
                .sequences = sequences,
                .rates = {}};
    const auto once = [&](std::uint32_t tokens) -> Result<double> {
      WEFT_OK(model_.run(rounds_.fill(depth, sequences)));
      return model_.run(rounds_.decode(tokens));
    };
    constexpr std::uint32_t warm_up_tokens = 8;
    WEFT_OK(warm_up(speed.test, [&] { return once(std::min(tests_.tokens, warm_up_tokens)); }));
    for (std::uint32_t round = 0; round < tests_.rounds && !stop_(); ++round) {
      progress_(speed.test, round, tests_.rounds);
      WEFT_ASSIGN(const double taken, once(tests_.tokens));
      if (taken <= 0) break;
      speed.rates.push_back(speed.tokens / taken);
      speed.dispatches = rounds_.dispatches_a_step();
      speed.submits = rounds_.submits_a_step();
    }
    return speed;
  }

 private:
  template <class Once>
  Result<> warm_up(std::string_view test, const Once& once) {
    progress_(test, 0, tests_.rounds);
    // Warms up in stretches until a stretch has no faster run than the one before, because the
    // clock of an idle GPU can stay low for more than half a second.
    constexpr int stretches_max = 6;
    double least = 0;
    for (int stretch = 0; stretch < stretches_max && !stop_(); ++stretch) {
      double quickest = 1e9;
      const auto begun = Clock::now();
      do {
        const auto run_begun = Clock::now();
        if (const auto done = once(); !done) return std::unexpected(done.error());
        quickest = std::min(quickest, seconds_since(run_begun));
      } while (!stop_() && seconds_since(begun) < tests_.warm_up_s);
      if (tests_.warm_up_s <= 0 || (stretch > 0 && quickest > 0.97 * least)) break;
      least = quickest;
    }
    return {};
  }

  LanguageModel& model_;
  const SpeedTests& tests_;
  const SpeedProgress& progress_;
  const Stop& stop_;
  Rounds rounds_;
};

}  // namespace

std::uint32_t SpeedTests::context() const {
  // Two more tokens are drawn than are counted: one at the end of a prefill, one before a round.
  return std::max(prompt, std::max(std::ranges::max(depths), 1u) + tokens) + 2;
}
std::uint32_t SpeedTests::sequences_max() const { return std::ranges::max(sequences); }

Result<> check_tests(const SpeedTests& tests) {
  constexpr std::uint32_t positions_max = 1u << 19;
  if (tests.rounds == 0) return fail(ErrorCode::invalid_argument, "--rounds must be at least 1.");
  if (tests.prompt == 0 && tests.tokens == 0)
    return fail(ErrorCode::invalid_argument,
                "With --prompt 0 and --tokens 0 there is nothing to measure; raise one.");
  if (tests.depths.empty() || tests.sequences.empty() || std::ranges::min(tests.sequences) == 0)
    return fail(ErrorCode::invalid_argument,
                "At least one depth (--depth) and one number of sequences above 0 (--sequences) "
                "must be given.");
  if (std::max({tests.prompt, tests.tokens, std::ranges::max(tests.depths)}) > positions_max)
    return fail(ErrorCode::invalid_argument,
                "At most {} positions are measured (--prompt, --tokens, --depth).", positions_max);
  return {};
}

double Speed::median() const {
  std::vector<double> sorted = rates;
  std::ranges::sort(sorted);
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}
double Speed::least() const { return std::ranges::min(rates); }
double Speed::most() const { return std::ranges::max(rates); }

Result<> measure_speed(LanguageModel& model, const SpeedTests& tests,
                       const std::function<void(Speed)>& on_speed, const SpeedProgress& progress,
                       const Stop& stop) {
  WEFT_OK(check_tests(tests));
  const llm::EngineOptions& engine = model.engine().options();
  check(engine.context >= tests.context() && engine.sequences >= tests.sequences_max(),
        "the engine was made for these tests");
  Measurement measurement(model, tests, progress, stop);
  const auto hand_over = [&](Speed speed) {
    if (!speed.rates.empty()) on_speed(std::move(speed));
  };
  if (tests.prompt > 0) {
    WEFT_ASSIGN(Speed speed, measurement.prefill());
    hand_over(std::move(speed));
  }
  if (tests.tokens == 0) return {};
  for (const std::uint32_t sequences : tests.sequences) {
    for (const std::uint32_t depth : tests.depths) {
      if (stop()) return {};
      WEFT_ASSIGN(Speed speed, measurement.decode(depth, sequences));
      hand_over(std::move(speed));
    }
  }
  return {};
}

std::uint64_t weight_bytes(const LanguageModel& model) {
  std::uint64_t sum = 0;
  for (const gguf::Tensor& tensor : model.file().tensors) sum += tensor.bytes;
  return sum;
}

std::uint64_t weight_bytes_of_a_step(const LanguageModel& model) {
  const llm::Model& weights = model.model();
  std::uint64_t unused = 0;  // Bytes of the experts that a position skips.
  for (const llm::Layer& layer : weights.layers) {
    if (const auto* experts = std::get_if<llm::Experts>(&layer.feed_forward)) {
      const llm::ExpertsShape& shape = *weights.config.experts;
      unused += (experts->gate->bytes + experts->up->bytes + experts->down->bytes) / shape.count *
                (shape.count - shape.used);
    }
  }
  // A step reads only one row of the embedding, unless the embedding is also the output matrix.
  return weight_bytes(model) - unused -
         (weights.output == weights.token_embedding ? 0 : weights.token_embedding->bytes);
}

std::uint64_t cache_bytes(LanguageModel& model, std::uint32_t positions, std::uint32_t sequences) {
  const llm::Config& config = model.engine().config();
  const std::uint64_t numbers = std::uint64_t{2} * config.attention.kv_rows();
  std::uint64_t position = 0;  // Bytes of a position in one attention layer.
  switch (model.engine().options().kv) {
    case llm::KvFormat::f32:
      position = numbers * 4;
      break;
    case llm::KvFormat::f16:
      position = numbers * 2;
      break;
    case llm::KvFormat::q8_0:
      position = numbers * 34 / 32;
      break;
  }
  std::uint64_t sum = 0;
  for (const llm::Layer& layer : model.model().layers) {
    if (std::holds_alternative<llm::Attention>(layer.mixer)) {
      sum += position * positions;
    } else {
      const llm::DeltaNetShape& shape = *config.delta_net;
      const std::uint64_t state =
          std::uint64_t{shape.value_heads} * shape.key_dim * shape.value_dim;
      sum += 4 * (state + std::uint64_t{shape.conv_rows()} * (shape.conv_taps - 1));
    }
  }
  return sum * sequences;
}

}  // namespace weft::cli
