// Rows of several sequences go through a chain together: the answers equal those of an engine with
// the whole model, frames keep their order, and a row that fails does not change the other rows.
#include <algorithm>
#include <deque>

#include "common/base/format.h"
#include "engine/llm/chain/chain_engine.h"
#include "engine/llm/chain/chain_stage.h"
#include "engine/llm/cpu/cpu_engine.h"
#include "engine/llm/generator.h"
#include "engine/llm/run_now.h"
#include "engine/llm/test_expected.h"

namespace weft::llm {
namespace {

class ChainTogether : public testing::Test {
 protected:
  void SetUp() override {
    const auto path = weft::test::find_data("models/tiny-llama-chat-q8_0.gguf");
    if (!path) GTEST_SKIP() << weft::test::missing_data("models/tiny-llama-chat-q8_0.gguf");
    model_ = std::move(*test::open_model(*path));
    tokenizer_ = tokenizer::Tokenizer::create(model_->file.metadata).value();
  }
  std::shared_ptr<Engine> engine(LayerRange layers, std::uint32_t sequences) const {
    return create_cpu_engine(
               model_->model, *model_->source,
               {.layers = layers, .context = 128, .sequences = sequences, .kv = KvFormat::f32}, 1)
        .value();
  }
  std::vector<Token> prompt(std::size_t number) const {
    std::vector<Token> out;
    for (std::size_t i = 0; i < 3 + number * 5 % 11; ++i)
      out.push_back(static_cast<Token>(40 + number + i * 7 % 200));
    return out;
  }

  std::unique_ptr<test::OpenModel> model_;
  std::unique_ptr<const tokenizer::Tokenizer> tokenizer_;
};

// A stage with a record of the frames that it sends.
struct Kept {
  explicit Kept(std::shared_ptr<Engine> engine, bool last = false)
      : stage(ChainStage::create(
            std::move(engine), {.last = last},
            {.onwards = [this](const ByteVector& frame) { onwards.push_back(read(frame)); },
             .to_first = [this](const ByteVector& frame) { to_first.push_back(read(frame)); }})) {}
  static ChainFrame read(const ByteVector& frame) { return decode_chain_frame(frame).value(); }
  Result<> take(const ChainFrame& frame) { return stage->receive(encode(frame)); }

  std::vector<ChainFrame> onwards, to_first;
  std::shared_ptr<ChainStage> stage;
};

TEST_F(ChainTogether, AnswersOfManyAreThoseOfTheWholeModel) {
  constexpr std::size_t count = 7;
  const auto whole = engine({}, 1);
  Generator alone(*whole, *tokenizer_);
  std::vector<std::vector<Token>> expected;
  const auto request = [&](std::size_t i) {
    Request out{.prompt = prompt(i), .tokens_max = static_cast<std::uint32_t>(4 + i % 5)};
    if (i % 2 == 1) out.sampling = {.temperature = 0.9F, .presence_penalty = 0.5F, .seed = i};
    return out;
  };
  const auto ids = [](const Generation& generation) {
    std::vector<Token> out;
    for (const auto& token : generation.tokens) out.push_back(token.id);
    return out;
  };
  for (std::size_t i = 0; i < count; ++i)
    expected.push_back(ids(run_now(alone.generate(request(i))).value()));

  const std::uint32_t layers = model_->model.config.layers;
  const auto first = engine({0, 1}, count);
  std::vector<std::size_t> groups;
  std::unique_ptr<ChainEngine> chain;
  const auto last = ChainStage::create(engine({2, layers}, count), {.last = true},
                                       {.onwards = {}, .to_first = [&](const ByteVector& frame) {
                                          ASSERT_TRUE(chain->receive(frame).has_value());
                                        }});
  const auto middle = ChainStage::create(
      engine({1, 2}, count), {},
      {.onwards = [&](const ByteVector& frame) { ASSERT_TRUE(last->receive(frame).has_value()); },
       .to_first = {}});
  chain = std::make_unique<ChainEngine>(*first, ChainEngine::Options{.stages = 3},
                                        [&](const ByteVector& frame) {
                                          const ChainFrame read = decode_chain_frame(frame).value();
                                          if (read.kind == ChainFrame::Kind::together)
                                            groups.push_back(read.sequence);
                                          ASSERT_TRUE(middle->receive(frame).has_value());
                                        });
  Generator generator(*chain, *tokenizer_);
  std::vector<std::vector<Token>> heard(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto take = [&, i](Result<Generation> done) { heard[i] = ids(done.value()); };
    ASSERT_TRUE(generator.add(request(i), {}, take).has_value());
  }
  ASSERT_TRUE(run_now(generator.run()).has_value());

  EXPECT_EQ(heard, expected);
  // Seven sequences are divided into three groups.
  ASSERT_GE(groups.size(), 3u);
  EXPECT_EQ((std::vector(groups.begin(), groups.begin() + 3)), (std::vector<std::size_t>{3, 2, 2}));
}

TEST_F(ChainTogether, AStageBeginsWhenAllFramesAreThereAndKeepsTheirOrder) {
  Kept kept(engine({1, 2}, 4));
  const std::vector<float> row(model_->model.config.embedding, 0.25F);
  ASSERT_TRUE(kept.take({.kind = ChainFrame::Kind::together, .sequence = 3}).has_value());
  for (const std::uint32_t sequence : {2u, 0u}) {
    ASSERT_TRUE(
        kept.take({.sequence = sequence, .ticket = sequence + 1, .tokens = {5}, .values = row})
            .has_value());
    EXPECT_TRUE(kept.onwards.empty());
  }
  // The third frame has no row, because it asks for a token after the rows of an earlier frame.
  ASSERT_TRUE(kept.take({.sequence = 1, .ticket = 2, .want = ChainFrame::Want::draw}).has_value());

  ASSERT_EQ(kept.onwards.size(), 4u);
  EXPECT_EQ(kept.onwards[0].kind, ChainFrame::Kind::together);
  EXPECT_EQ(kept.onwards[0].sequence, 3u);
  EXPECT_EQ(kept.onwards[1].sequence, 2u);
  EXPECT_EQ(kept.onwards[2].sequence, 0u);
  EXPECT_EQ(kept.onwards[3].sequence, 1u);
  EXPECT_TRUE(kept.onwards[3].values.empty());

  Kept single(engine({1, 2}, 4));
  ASSERT_TRUE(single.take({.sequence = 2, .ticket = 3, .tokens = {5}, .values = row}).has_value());
  EXPECT_EQ(single.onwards[0].values, kept.onwards[1].values);
}

TEST_F(ChainTogether, AFrameThatFailsLeavesTheOthersAndTheNumbersOfFrames) {
  Kept kept(engine({1, 2}, 4));
  const std::vector<float> row(model_->model.config.embedding, 0.25F);
  ASSERT_TRUE(kept.take({.kind = ChainFrame::Kind::together, .sequence = 2}).has_value());
  ASSERT_TRUE(
      kept.take({.sequence = 0, .ticket = 7, .at = 9, .tokens = {5}, .values = row}).has_value());
  ASSERT_TRUE(kept.take({.sequence = 1, .ticket = 8, .tokens = {5}, .values = row}).has_value());

  ASSERT_EQ(kept.onwards.size(), 3u);
  EXPECT_TRUE(kept.onwards[1].values.empty()) << "one without rows in its place";
  EXPECT_EQ(kept.onwards[2].values.size(), row.size());
  ASSERT_EQ(kept.to_first.size(), 1u);
  EXPECT_EQ(kept.to_first[0].kind, ChainFrame::Kind::fault);
  EXPECT_EQ(kept.to_first[0].ticket, 7u);
  EXPECT_EQ(kept.to_first[0].message,
            "A stage has read 0 positions of a sequence whose next frame begins at 9.");
}

TEST_F(ChainTogether, TheLastStageDrawsForThoseThatWantIt) {
  const std::uint32_t layers = model_->model.config.layers;
  Kept kept(engine({2, layers}, 4), true), single(engine({2, layers}, 4), true);
  const std::vector<float> row(model_->model.config.embedding, 0.25F);
  const auto frame = [&](std::uint32_t sequence, ChainFrame::Want want) {
    return ChainFrame{
        .sequence = sequence, .ticket = sequence, .want = want, .tokens = {5}, .values = row};
  };
  ASSERT_TRUE(kept.take({.kind = ChainFrame::Kind::together, .sequence = 4}).has_value());
  for (const auto& [sequence, want] :
       {std::pair{1u, ChainFrame::Want::draw}, std::pair{2u, ChainFrame::Want::nothing},
        std::pair{3u, ChainFrame::Want::hidden}, std::pair{4u, ChainFrame::Want::draw}}) {
    ASSERT_TRUE(kept.take(frame(sequence, want)).has_value());
    ASSERT_TRUE(single.take(frame(sequence, want)).has_value());
  }

  ASSERT_EQ(kept.to_first.size(), 3u);
  ASSERT_EQ(single.to_first.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(kept.to_first[i].kind, single.to_first[i].kind) << i;
    EXPECT_EQ(kept.to_first[i].ticket, single.to_first[i].ticket) << i;
    EXPECT_EQ(kept.to_first[i].tokens, single.to_first[i].tokens) << i;
    EXPECT_EQ(kept.to_first[i].values, single.to_first[i].values) << i;
  }
}

TEST_F(ChainTogether, RefusesGroupsThatNoStageCanTake) {
  Kept kept(engine({1, 2}, 4));
  for (const std::uint32_t count : {0u, 1u, 5u, ~0u})
    EXPECT_EQ(
        kept.take({.kind = ChainFrame::Kind::together, .sequence = count}).error().message,
        weft::format("A stage of a chain with 4 sequences is asked to take {} frames together.",
                     count));
  // Both a group within a group and a group that has a sequence twice are taken frame by frame.
  const std::vector<float> row(model_->model.config.embedding, 0.25F);
  ASSERT_TRUE(kept.take({.kind = ChainFrame::Kind::together, .sequence = 2}).has_value());
  ASSERT_TRUE(kept.take({.kind = ChainFrame::Kind::together, .sequence = 2}).has_value());
  ASSERT_TRUE(kept.take({.sequence = 0, .tokens = {5}, .values = row}).has_value());
  ASSERT_EQ(kept.to_first.size(), 1u);
  EXPECT_EQ(kept.to_first[0].message,
            "A group of frames to be taken together contains the beginning of another group.");
  ASSERT_TRUE(kept.take({.kind = ChainFrame::Kind::together, .sequence = 2}).has_value());
  ASSERT_TRUE(kept.take({.sequence = 0, .at = 1, .tokens = {6}, .values = row}).has_value());
  ASSERT_TRUE(kept.take({.sequence = 0, .at = 2, .tokens = {7}, .values = row}).has_value());
  EXPECT_EQ(kept.to_first.size(), 1u);
  EXPECT_EQ(kept.onwards.back().at, 2u);
}

TEST_F(ChainTogether, TheFirstStageOpensAsManySequencesAsTheChainHas) {
  const auto first = engine({0, 1}, 8);
  ChainEngine chain(*first, {.sequences = 2}, [](const ByteVector&) {});
  EXPECT_EQ(chain.options().sequences, 2u);
  ASSERT_TRUE(chain.open().has_value());
  const SequenceId second = chain.open().value();
  EXPECT_EQ(chain.open().error().code, ErrorCode::resource_exhausted);
  chain.close(second);
  EXPECT_TRUE(chain.open().has_value());
}

}  // namespace
}  // namespace weft::llm
