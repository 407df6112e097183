// However calls are cut, the numbers are those of one call, and an invalid call is refused as a
// whole.
#include <gtest/gtest.h>

#include <numeric>

#include "common/base/test_data.h"
#include "engine/gguf/mapped_file.h"
#include "worker/inference/paced_engine.h"
#include "worker/inference/test_machine.h"

namespace weft::worker {
namespace {

using namespace std::chrono_literals;

class PacedEngineTest : public testing::Test {
 protected:
  PacedEngineTest()
      : source(gguf::MappedFile::open(test::find_data("models/tiny-llama-chat-q8_0.gguf")->string())
                   .value()),
        file(gguf::read_file(*source).value()),
        model(llm::read_model(file).value()),
        prompt(200) {
    std::iota(prompt.begin(), prompt.end(), 100);
  }
  std::unique_ptr<llm::Engine> engine(llm::LayerRange layers = {}, bool paced = true) {
    auto made = llm::create_cpu_engine(model, *source,
                                       {.layers = layers, .context = 256, .sequences = 2}, 1)
                    .value();
    if (!paced) return made;
    return make_paced(
        std::make_unique<SlowEngine>(std::move(made), time, 7ms),
        {.before = [this] { return note(this); }, .now = [this] { return time.now(); }});
  }
  static Async<> note(PacedEngineTest* test) {
    test->turns.push_back(test->time.now());
    co_return;
  }
  template <class T>
  static T now(Async<T> call) {
    std::optional<T> out;
    start<T>(std::move(call), [&](T value) { out.emplace(std::move(value)); });
    return std::move(*out);
  }
  [[nodiscard]] Duration longest_part() const {
    Duration out{};
    for (std::size_t i = 1; i < turns.size(); ++i) out = std::max(out, turns[i] - turns[i - 1]);
    return out;
  }

  std::unique_ptr<gguf::MappedFile> source;
  gguf::File file;
  llm::Model model;
  std::vector<llm::Token> prompt;
  SimulatedTime time;
  std::vector<Instant> turns;
};

TEST_F(PacedEngineTest, ReadsAPromptInPartsOfTheTimeThatAPartMayTake) {
  const auto whole = engine({}, false), parts = engine();
  const llm::SequenceId a = whole->open().value(), b = parts->open().value();
  ASSERT_TRUE(now(whole->append(a, prompt)).has_value());
  ASSERT_TRUE(now(parts->append(b, prompt)).has_value());

  EXPECT_LE(longest_part(), 100ms);
  EXPECT_LT(turns.size(), 25u) << "not one by one";
  EXPECT_EQ(now(parts->logits(b)).value(), now(whole->logits(a)).value());
}

TEST_F(PacedEngineTest, RunsARangeOfLayersInPartsWithTheSameNumbers) {
  const auto first_whole = engine({0, 3}, false), first = engine({0, 3}),
             second_whole = engine({3, 6}, false), second = engine({3, 6});
  const llm::SequenceId id{};
  for (const auto* one : {&first_whole, &first, &second_whole, &second})
    ASSERT_EQ((*one)->open().value(), id);
  const auto expected = now(first_whole->forward_tokens(id, prompt)).value();
  const auto hidden = now(first->forward_tokens(id, prompt)).value();
  EXPECT_EQ(hidden, expected);
  EXPECT_EQ(now(second->forward(id, hidden)).value(),
            now(second_whole->forward(id, expected)).value());
  EXPECT_LE(longest_part(), 100ms);
}

TEST_F(PacedEngineTest, DrawsForSeveralOneByOne) {
  const auto paced = engine();
  const llm::SequenceId a = paced->open().value(), b = paced->open().value();
  ASSERT_TRUE(now(paced->append(a, prompt)).has_value());
  ASSERT_TRUE(now(paced->append(b, {prompt.begin(), prompt.begin() + 9})).has_value());
  const std::size_t before = turns.size();
  EXPECT_EQ(now(paced->draw({a, b}, 3)).value().size(), 2u);
  EXPECT_EQ(turns.size(), before + 2);
  EXPECT_EQ(paced->length(a), 201u);
}

TEST_F(PacedEngineTest, RefusesWhole) {
  const auto paced = engine();
  const llm::SequenceId id = paced->open().value();
  std::vector<llm::Token> wrong = prompt;
  wrong.back() = 1'000'000;
  EXPECT_EQ(now(paced->append(id, wrong)).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(paced->length(id), 0u);
  prompt.resize(300, 5);
  EXPECT_EQ(now(paced->append(id, prompt)).error().code, ErrorCode::resource_exhausted);
  EXPECT_EQ(paced->length(id), 0u);
}

}  // namespace
}  // namespace weft::worker
