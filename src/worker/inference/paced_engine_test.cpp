// An engine keeps its share of the time between calls, and with a share below 1 nothing is drawn
// ahead.
#include "worker/inference/paced_engine.h"

#include <gtest/gtest.h>

#include <thread>
#include <utility>
#include <vector>

namespace weft::worker {
namespace {

constexpr Duration work_time = std::chrono::milliseconds(2);

constexpr std::uint32_t read_on = 99;  // The number that is recorded for a call of draw_and_read().

// Works for a short time at every draw, and records how many tokens it may draw ahead.
class WorkingEngine final : public llm::Engine {
 public:
  explicit WorkingEngine(std::vector<std::uint32_t>& ahead) : ahead_(ahead) {}
  const llm::Config& config() const override { return config_; }
  const llm::EngineOptions& options() const override { return options_; }
  std::string device() const override { return "test"; }
  llm::EngineCounters counters() const override { return {}; }
  Result<llm::SequenceId> open() override { return llm::SequenceId{}; }
  void close(llm::SequenceId) override {}
  std::uint32_t length(llm::SequenceId) const override { return 0; }
  std::uint32_t rewind(llm::SequenceId, std::uint32_t length) override { return length; }
  Async<Result<>> append(llm::SequenceId, std::vector<llm::Token>) override {
    co_return Result<>();
  }
  Async<Result<std::vector<float>>> logits(llm::SequenceId) override {
    co_return std::vector<float>();
  }
  Async<Result<std::vector<llm::Drawn>>> draw(std::vector<llm::SequenceId>,
                                              std::uint32_t more) override {
    ahead_.push_back(more);
    std::this_thread::sleep_for(work_time);
    co_return std::vector<llm::Drawn>();
  }
  Async<Result<std::vector<llm::Drawn>>> draw_and_read(std::vector<llm::SequenceId>) override {
    ahead_.push_back(read_on);
    co_return std::vector<llm::Drawn>();
  }
  void set_sampling(llm::SequenceId, const llm::Sampling&) override {}
  Async<Result<std::vector<float>>> forward(llm::SequenceId, std::vector<float>) override {
    co_return std::vector<float>();
  }
  Async<Result<std::vector<float>>> forward_tokens(llm::SequenceId,
                                                   std::vector<llm::Token>) override {
    co_return std::vector<float>();
  }

 private:
  std::vector<std::uint32_t>& ahead_;
  llm::Config config_;
  llm::EngineOptions options_;
};

struct Paced {
  double share = 1;
  std::vector<Duration> rests;
  std::vector<std::uint32_t> ahead;
  std::unique_ptr<llm::Engine> engine =
      make_paced(std::make_unique<WorkingEngine>(ahead),
                 {.share = [this] { return share; },
                  .rest = [this](Duration time) { return note(this, time); }});

  static Async<> note(Paced* self, Duration time) {
    self->rests.push_back(time);
    co_return;
  }
  static Async<> draws(Paced* self, int count) {
    for (int i = 0; i < count; ++i) (void)co_await self->engine->draw({}, 7);
  }
  void draw(int count) { start(draws(this, count)); }
};

TEST(PacedEngine, RestsBetweenCallsByItsShare) {
  Paced paced;
  paced.share = 0.25;

  paced.draw(3);

  ASSERT_EQ(paced.rests.size(), 2u);  // No rest follows the last call.
  for (const Duration rest : paced.rests) EXPECT_GE(rest, 3 * work_time);
}

TEST(PacedEngine, DrawsAheadOnlyWithTheWholeTime) {
  Paced paced;

  paced.draw(1);
  paced.share = 0.5;
  paced.draw(1);

  EXPECT_EQ(paced.ahead, (std::vector<std::uint32_t>{7, 0}));
}

// draw_and_read() continues to work while its caller works, so no rest could follow it.
TEST(PacedEngine, ReadsOnOnlyWithTheWholeTime) {
  Paced paced;
  const auto draw = [](Paced* self) -> Async<> { (void)co_await self->engine->draw_and_read({}); };

  start(draw(&paced));
  paced.share = 0.5;
  start(draw(&paced));

  EXPECT_EQ(paced.ahead, (std::vector<std::uint32_t>{read_on, 0}));
}

TEST(PacedEngine, NeverRestsWithTheWholeTime) {
  Paced paced;

  paced.draw(5);

  EXPECT_TRUE(paced.rests.empty());
}

}  // namespace
}  // namespace weft::worker
