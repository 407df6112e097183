#include "worker/inference/paced_engine.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/base/check.h"

namespace weft::worker {
namespace {

// Large: it forwards each method of Engine, in a line or two.
class PacedEngine final : public llm::Engine {
 public:
  PacedEngine(std::unique_ptr<llm::Engine> engine, Pace pace)
      : engine_(std::move(engine)), pace_(std::move(pace)) {}

  const llm::Config& config() const override { return engine_->config(); }
  const llm::EngineOptions& options() const override { return engine_->options(); }
  std::string device() const override { return engine_->device(); }
  llm::EngineCounters counters() const override { return engine_->counters(); }
  Result<llm::SequenceId> open() override { return engine_->open(); }
  void close(llm::SequenceId id) override { engine_->close(id); }
  std::uint32_t length(llm::SequenceId id) const override { return engine_->length(id); }
  std::uint32_t rewind(llm::SequenceId id, std::uint32_t length) override {
    return engine_->rewind(id, length);
  }
  std::uint32_t drawn_ahead(llm::SequenceId id) const override { return engine_->drawn_ahead(id); }
  bool keeps_hidden() const override { return engine_->keeps_hidden(); }
  void keep_hidden(llm::SequenceId id, std::uint32_t from, std::uint32_t every) override {
    engine_->keep_hidden(id, from, every);
  }
  std::optional<std::vector<float>> take_hidden(llm::SequenceId id, std::uint32_t length) override {
    return engine_->take_hidden(id, length);
  }
  Result<> reserve(llm::SequenceId id, std::uint32_t positions) override {
    return engine_->reserve(id, positions);
  }
  std::uint32_t share(llm::SequenceId from, llm::SequenceId to, std::uint32_t length) override {
    return engine_->share(from, to, length);
  }
  void set_sampling(llm::SequenceId id, const llm::Sampling& sampling) override {
    engine_->set_sampling(id, sampling);
  }
  bool takes_masks() const override { return engine_->takes_masks(); }
  void set_mask(llm::SequenceId id, std::span<const std::uint64_t> allowed) override {
    engine_->set_mask(id, allowed);
  }

  Async<Result<>> append(llm::SequenceId id, std::vector<llm::Token> tokens) override {
    // An invalid call is not cut into parts, so that it is refused as a whole.
    if (!pace_.now || !takes(id, tokens))
      co_return co_await paced(engine_->append(id, std::move(tokens)), true);
    for (std::size_t done = 0; done < tokens.size();) {
      const std::size_t rows = std::min(rows_, tokens.size() - done);
      const auto from = tokens.begin() + static_cast<std::ptrdiff_t>(done);
      WEFT_CO_OK(co_await timed(
          engine_->append(id, {from, from + static_cast<std::ptrdiff_t>(rows)}), rows));
      done += rows;
    }
    co_return Result<>();
  }
  Async<Result<std::vector<float>>> logits(llm::SequenceId id) override {
    return paced(engine_->logits(id), false);
  }
  Async<Result<std::vector<float>>> logits_along(llm::SequenceId id,
                                                 std::vector<llm::Token> tokens) override {
    return paced(engine_->logits_along(id, std::move(tokens)), true);
  }
  Async<Result<std::vector<llm::Drawn>>> draw(std::vector<llm::SequenceId> ids,
                                              std::uint32_t more) override {
    if (share() < 1) more = 0;
    if (!pace_.now) co_return co_await paced(engine_->draw(std::move(ids), more), true);
    for (const llm::SequenceId id : ids) {
      if (engine_->length(id) >= options().context)
        co_return co_await paced(engine_->draw(std::move(ids), more), true);
    }
    std::vector<llm::Drawn> out;
    for (const llm::SequenceId id : ids) {
      WEFT_CO_ASSIGN(const std::vector<llm::Drawn> drawn,
                     co_await paced(engine_->draw({id}, more), true));
      out.push_back(drawn.front());
    }
    co_return out;
  }
  Async<Result<std::vector<llm::Drawn>>> draw_and_read(std::vector<llm::SequenceId> ids) override {
    if (share() < 1 || pace_.now) return draw(std::move(ids), 0);
    return paced(engine_->draw_and_read(std::move(ids)), true);
  }
  Async<Result<std::vector<float>>> forward(llm::SequenceId id,
                                            std::vector<float> hidden) override {
    const std::size_t width = config().embedding, rows = hidden.size() / width;
    if (!pace_.now || hidden.size() % width != 0 || !fits(id, rows))
      co_return co_await paced(engine_->forward(id, std::move(hidden)), true);
    for (std::size_t done = 0; done < rows;) {
      const std::size_t count = std::min(rows_, rows - done);
      const auto from = hidden.begin() + static_cast<std::ptrdiff_t>(done * width);
      WEFT_CO_ASSIGN(
          const std::vector<float> out,
          co_await timed(
              engine_->forward(id, {from, from + static_cast<std::ptrdiff_t>(count * width)}),
              count));
      std::ranges::copy(out, from);
      done += count;
    }
    co_return hidden;
  }
  Async<Result<std::vector<float>>> forward_tokens(llm::SequenceId id,
                                                   std::vector<llm::Token> tokens) override {
    if (!pace_.now || !takes(id, tokens))
      co_return co_await paced(engine_->forward_tokens(id, std::move(tokens)), true);
    std::vector<float> hidden;
    for (std::size_t done = 0; done < tokens.size();) {
      const std::size_t rows = std::min(rows_, tokens.size() - done);
      const auto from = tokens.begin() + static_cast<std::ptrdiff_t>(done);
      WEFT_CO_ASSIGN(
          const std::vector<float> out,
          co_await timed(
              engine_->forward_tokens(id, {from, from + static_cast<std::ptrdiff_t>(rows)}), rows));
      hidden.insert(hidden.end(), out.begin(), out.end());
      done += rows;
    }
    co_return hidden;
  }
  Async<Result<>> absorb(llm::SequenceId id, std::vector<float> hidden) override {
    if (!pace_.now) co_return co_await paced(engine_->absorb(id, std::move(hidden)), true);
    WEFT_CO_ASSIGN([[maybe_unused]] const std::vector<float> unwanted,
                   co_await forward(id, std::move(hidden)));
    co_return Result<>();
  }
  Async<Result<llm::Drawn>> draw_behind(llm::SequenceId id, llm::Sampling sampling,
                                        std::vector<llm::Token> tokens) override {
    return paced(engine_->draw_behind(id, sampling, std::move(tokens)), false);
  }
  Async<Result<std::vector<float>>> forward_each(llm::Rows rows) override {
    if (!pace_.now) return paced(engine_->forward_each(std::move(rows)), true);
    // Makes one call for each row, each with its own rest.
    return Engine::forward_each(std::move(rows));
  }
  Async<Result<>> absorb_each(llm::Rows rows) override {
    if (!pace_.now) return paced(engine_->absorb_each(std::move(rows)), true);
    return Engine::absorb_each(std::move(rows));
  }
  Async<Result<std::vector<llm::Drawn>>> draw_behind_each(
      std::vector<llm::DrawBehind> draws) override {
    return paced(engine_->draw_behind_each(std::move(draws)), false);
  }
  Async<Result<std::vector<float>>> last_hidden(llm::SequenceId id) override {
    return paced(engine_->last_hidden(id), false);
  }

 private:
  [[nodiscard]] bool fits(llm::SequenceId id, std::size_t more) const {
    return more > 0 && more <= options().context - std::min(options().context, engine_->length(id));
  }
  [[nodiscard]] bool takes(llm::SequenceId id, const std::vector<llm::Token>& tokens) const {
    return fits(id, tokens.size()) && std::ranges::all_of(tokens, [&](llm::Token token) {
             return token >= 0 && static_cast<std::uint32_t>(token) < config().vocabulary;
           });
  }

  // Makes the call for a part of `rows` positions. The number of rows of the next part is adapted
  // to Pace::part.
  template <class T>
  Async<T> timed(Async<T> call, std::size_t rows) {
    if (pace_.before) co_await pace_.before();
    co_await rest();
    const Instant begun = pace_.now();
    T result = co_await once(std::move(call), true);
    const Duration row = (pace_.now() - begun) / static_cast<std::int64_t>(rows);
    const auto fit =
        row <= Duration::zero() ? rows_max : static_cast<std::size_t>(pace_.part / row);
    rows_ = std::clamp<std::size_t>(fit, 1, std::min(rows_max, 2 * rows_));
    co_return result;
  }
  template <class T>
  Async<T> paced(Async<T> call, bool pass) {
    // Each pass first waits for a turn of the event loop. Other calls of the engine follow a pass
    // and need no turn.
    if (pass && pace_.before) co_await pace_.before();
    co_await rest();
    co_return co_await once(std::move(call), pass);
  }
  // Rests for the last call, if the share is below 1.
  Async<> rest() {
    const double part = share();
    if (part < 1 && worked_ > Duration::zero())
      co_await pace_.rest(std::chrono::duration_cast<Duration>(worked_ * ((1 - part) / part)));
  }
  template <class T>
  Async<T> once(Async<T> call, bool pass) {
    const Instant begun = now();
    if (pace_.work) pace_.work(true);
    if (pass && pace_.pass) pace_.pass(true);
    std::optional<T> result;
    if (pace_.elsewhere) {
      co_await pace_.elsewhere(
          [&] { start<T>(std::move(call), [&](T value) { result.emplace(std::move(value)); }); });
      check(result.has_value(), "an engine that is called elsewhere never waits");
    } else {
      result.emplace(co_await call);
    }
    if (pass && pace_.pass) pace_.pass(false);
    if (pace_.work) pace_.work(false);
    worked_ = now() - begun;
    co_return std::move(*result);
  }
  [[nodiscard]] double share() const { return pace_.share ? pace_.share() : 1; }

  static constexpr std::size_t rows_max = 64;
  std::size_t rows_ = 4;  // Number of rows of the next part.
  const std::unique_ptr<llm::Engine> engine_;
  const Pace pace_;
  Duration worked_{};  // Time of the last call, for the rest before the next one.
};

}  // namespace

std::unique_ptr<llm::Engine> make_paced(std::unique_ptr<llm::Engine> engine, Pace pace) {
  return std::make_unique<PacedEngine>(std::move(engine), std::move(pace));
}

}  // namespace weft::worker
