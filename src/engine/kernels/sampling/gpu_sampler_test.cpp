// The GPU draws the tokens of llm::Sampler: with mixed rules over vocabularies of all sizes, with
// exact ties, with rows in which no token is possible, and in steps that follow one another without
// the CPU.
#include "engine/kernels/sampling/gpu_sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "common/base/format.h"
#include "common/base/long_tests.h"
#include "engine/kernels/test_device.h"
#include "engine/llm/sampler.h"

namespace weft::kernels {
namespace {

// One row of logits with the tokens before it and the settings of its sampling.
struct Row {
  std::vector<float> logits;
  std::vector<llm::Token> before;
  llm::Sampling sampling;
};

RowSampling row_sampling(const llm::Sampling& sampling) {
  return {.temperature = sampling.temperature,
          .top_k = sampling.top_k,
          .top_p = sampling.top_p,
          .min_p = sampling.min_p,
          .repetition_penalty = sampling.repetition_penalty,
          .presence_penalty = sampling.presence_penalty,
          .frequency_penalty = sampling.frequency_penalty,
          .penalty_window = sampling.penalty_window,
          .seed = sampling.seed};
}

std::string describe(const Row& row) {
  const llm::Sampling& s = row.sampling;
  return weft::format(
      "vocabulary {}, temperature {}, top_k {}, top_p {}, min_p {}, penalties {} {} {} over {} of "
      "{}, seed {}",
      row.logits.size(), s.temperature, s.top_k, s.top_p, s.min_p, s.repetition_penalty,
      s.presence_penalty, s.frequency_penalty, s.penalty_window, row.before.size(), s.seed);
}

// Decides whether a token is as good an answer as the CPU's token, because f32 arithmetic in
// another order may lead to it:
// - Scores (logit / temperature + noise) count as equal within 1e-6 of the largest of 1, the
//   quotient and the noise. At temperature 0, and for top_k and min_p, the logits decide; they are
//   exact without penalties, and within 5e-7 of the added numbers with penalties.
// - top_p may keep or drop a token if the sum of the probabilities of the tokens before it is
//   within 4e-6 of top_p.
class Judge {
 public:
  explicit Judge(const Row& row) : row_(row) {
    const llm::Sampling& sampling = row.sampling;
    std::map<llm::Token, std::uint32_t> counts;
    if (sampling.has_penalties()) {
      const std::size_t window = std::min<std::size_t>(sampling.penalty_window, row.before.size());
      for (const llm::Token token : std::span(row.before).last(window)) ++counts[token];
    }
    for (std::size_t i = 0; i < row.logits.size(); ++i) {
      Candidate candidate{.token = static_cast<llm::Token>(i), .logit = row.logits[i]};
      if (!(row.logits[i] > -INFINITY)) continue;
      if (const auto count = counts.find(candidate.token); count != counts.end()) {
        const double repetition = sampling.repetition_penalty, logit = candidate.logit;
        const double scaled = logit > 0 ? logit / repetition : logit * repetition;
        const double taken = sampling.presence_penalty +
                             static_cast<double>(count->second) * sampling.frequency_penalty;
        candidate.logit = scaled - taken;
        candidate.slack =
            5e-7 * (std::abs(scaled) + std::abs(sampling.presence_penalty) +
                    static_cast<double>(count->second) * std::abs(sampling.frequency_penalty));
      }
      candidates_.push_back(candidate);
    }
    std::ranges::sort(candidates_, [](const auto& a, const auto& b) {
      return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
    });
    if (sampling.temperature > 0) restrict();
    for (Candidate& candidate : candidates_) {
      candidate.score = candidate.logit;
      candidate.score_slack = candidate.slack;
      if (sampling.temperature > 0) {
        const double quotient = candidate.logit / sampling.temperature;
        const double noise = llm::gumbel(
            sampling.seed, static_cast<std::uint32_t>(row.before.size()), candidate.token);
        candidate.score = quotient + noise;
        candidate.score_slack = candidate.slack / sampling.temperature +
                                1e-6 * std::max({1.0, std::abs(quotient), std::abs(noise)});
      }
    }
  }

  bool accepts(llm::Token token) const {
    const auto mine = std::ranges::find(candidates_, token, &Candidate::token);
    if (mine == candidates_.end() || !mine->may_stay) return false;
    return std::ranges::none_of(candidates_, [&](const Candidate& other) {
      return other.must_stay && other.score - other.score_slack > mine->score + mine->score_slack;
    });
  }

 private:
  struct Candidate {
    llm::Token token = 0;
    double logit = 0;
    double slack = 0;  // The error bound of the logit.
    bool must_stay = true;
    bool may_stay = true;
    double score = 0;
    double score_slack = 0;
  };

  void restrict() {
    const llm::Sampling& sampling = row_.sampling;
    if (candidates_.empty()) return;
    const Candidate top = candidates_.front();
    if (sampling.top_k > 0 && sampling.top_k < candidates_.size()) {
      const Candidate last = candidates_[sampling.top_k - 1], next = candidates_[sampling.top_k];
      for (std::size_t i = 0; i < candidates_.size(); ++i) {
        Candidate& candidate = candidates_[i];
        const double slack = candidate.slack + last.slack + next.slack;
        candidate.must_stay = slack == 0
                                  ? i < sampling.top_k
                                  : i < sampling.top_k && candidate.logit > next.logit + slack;
        candidate.may_stay = slack == 0
                                 ? i < sampling.top_k
                                 : i < sampling.top_k || candidate.logit >= last.logit - slack;
      }
    }
    if (sampling.top_p < 1) {
      double total = 0, sum = 0;
      for (std::size_t i = 0; i < candidates_.size(); ++i) {
        if (sampling.top_k == 0 || i < sampling.top_k)
          total += std::exp(candidates_[i].logit - top.logit);
      }
      for (std::size_t i = 0; i < candidates_.size(); ++i) {
        if (i > 0 && sum >= (sampling.top_p - 4e-6) * total) candidates_[i].must_stay = false;
        if (i > 0 && sum >= (sampling.top_p + 4e-6) * total) candidates_[i].may_stay = false;
        sum += std::exp(candidates_[i].logit - top.logit);
      }
    }
    if (sampling.min_p > 0) {
      const float least = static_cast<float>(top.logit) + std::log(sampling.min_p);
      for (Candidate& candidate : candidates_) {
        const double slack = candidate.slack + top.slack;
        if (candidate.logit < least + slack) candidate.must_stay = false;
        if (candidate.logit < least - slack) candidate.may_stay = false;
      }
    }
  }

  const Row& row_;
  std::vector<Candidate> candidates_;
};

class GpuSamplerTest : public test::KernelTest {
 protected:
  static std::unique_ptr<GpuSampler> create(const GpuSampler::Options& options) {
    auto sampler = gpu::run(*test::machine().instance, GpuSampler::create(device(), options));
    EXPECT_TRUE(sampler.has_value()) << sampler.error().message;
    return std::move(*sampler);
  }
  static std::uint32_t draw(GpuSampler& sampler, const GpuSampler::Rows& rows,
                            const std::vector<std::uint32_t>& slots, int times = 1) {
    std::uint32_t step = 0;
    gpu::Encoder encoder = device().create_encoder();
    {
      gpu::Pass pass = encoder.begin_pass();
      for (int i = 0; i < times; ++i) step = sampler.record(pass, rows, slots);
    }
    device().submit(std::move(encoder));
    return step;
  }

  // Draws every row with the GPU; row i uses slot rows.size() - 1 - i.
  static std::vector<GpuDrawn> draw_rows(GpuSampler& sampler, const std::vector<Row>& rows) {
    std::vector<float> logits;
    std::vector<RowPlace> places;
    std::vector<std::uint32_t> slots;
    for (const Row& row : rows) {
      const auto slot = static_cast<std::uint32_t>(rows.size() - 1 - slots.size());
      logits.insert(logits.end(), row.logits.begin(), row.logits.end());
      places.push_back(
          {.slot = slot, .position = static_cast<std::uint32_t>(row.before.size()) - 1});
      slots.push_back(slot);
      sampler.set_sampling(slot, row_sampling(row.sampling));
      sampler.remember(slot, 0, std::vector<std::uint32_t>(row.before.begin(), row.before.end()));
    }
    const gpu::Buffer logits_buffer = upload(logits),
                      tokens = upload(std::vector<std::uint32_t>(rows.size())),
                      places_buffer = upload(places);
    const GpuSampler::Rows bound = sampler.bind(logits_buffer, tokens, places_buffer);

    const std::uint32_t step = draw(sampler, bound, slots);

    const auto ring = download<GpuDrawn>(
        sampler.drawn(), std::size_t{sampler.options().steps} * sampler.options().rows);
    const auto first =
        ring.begin() + static_cast<std::ptrdiff_t>(sampler.drawn_offset(step) / sizeof(GpuDrawn));
    std::vector<GpuDrawn> drawn(first, first + static_cast<std::ptrdiff_t>(rows.size()));
    const auto next = download<std::uint32_t>(tokens, rows.size());
    const auto moved = download<RowPlace>(places_buffer, rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(next[i], drawn[i].token);
      EXPECT_EQ(moved[i].position, rows[i].before.size());
      EXPECT_EQ(moved[i].slot, places[i].slot);
    }
    return drawn;
  }
};

template <class T>
T one_of(std::mt19937& random, std::initializer_list<T> values) {
  return values.begin()[random() % values.size()];
}

Row random_row(std::uint32_t vocabulary, std::mt19937& random) {
  Row row;
  row.logits = test::random_floats(vocabulary, static_cast<std::uint32_t>(random()),
                                   one_of(random, {0.3f, 1.0f, 3.0f, 8.0f}));
  if (random() % 4 == 0) {
    for (float& logit : row.logits)
      logit = std::round(logit * 2) / 2;  // Many equal logits, with zeros of both signs.
  }
  if (random() % 4 == 0) {
    for (std::size_t i = 0; i < 1 + vocabulary / 10; ++i)
      row.logits[random() % vocabulary] = one_of(random, {-INFINITY, NAN, -1e30f});
  }
  for (std::size_t length = 1 + random() % 500; length > 0; --length)
    row.before.push_back(static_cast<llm::Token>(random() % std::min(vocabulary, 300u)));
  row.sampling = {
      .temperature = one_of(random, {0.0f, 0.3f, 0.8f, 1.0f, 1.7f}),
      .top_k = one_of(random, {0u, 0u, 0u, 1u, 2u, 40u, 1000u, vocabulary / 2 + 1, vocabulary + 3}),
      .top_p = one_of(random, {1.0f, 1.0f, 0.95f, 0.5f, 0.0f, 0.999f}),
      .min_p = one_of(random, {0.0f, 0.0f, 0.05f, 0.3f, 1.0f}),
      .seed = std::uint64_t{random()} << 32 | random()};
  if (random() % 5 < 2) {
    row.sampling.repetition_penalty = one_of(random, {1.0f, 1.1f, 1.3f, 0.9f});
    row.sampling.presence_penalty = one_of(random, {0.0f, 0.5f, -0.4f});
    row.sampling.frequency_penalty = one_of(random, {0.0f, 0.1f, 0.7f});
    row.sampling.penalty_window = one_of(random, {0u, 1u, 64u, 300u});
  }
  return row;
}

class GpuSamplerSweep
    : public GpuSamplerTest,
      public testing::WithParamInterface<std::pair<std::uint32_t, std::uint32_t>> {};
// The vocabulary and the number of draws. The quick run has fewer draws if a software device takes
// seconds for each.
INSTANTIATE_TEST_SUITE_P(
    Vocabularies, GpuSamplerSweep,
    testing::Values(std::pair(1u, 160u), std::pair(7u, 640u), std::pair(512u, 640u),
                    std::pair(32'000u, weft::test::long_tests() ? 400u : 120u),
                    std::pair(151'936u, weft::test::long_tests() ? 160u : 40u)));

TEST_P(GpuSamplerSweep, DrawsWhatTheCpuDraws) {
  const auto [vocabulary, draws] = GetParam();
  constexpr std::uint32_t rows_each = 8;
  const auto sampler =
      create({.vocabulary = vocabulary, .rows = rows_each, .slots = rows_each, .steps = 4});
  std::mt19937 random(vocabulary);
  llm::Sampler cpu;
  std::uint32_t different = 0;
  for (std::uint32_t done = 0; done < draws; done += rows_each) {
    std::vector<Row> rows;
    for (std::uint32_t i = 0; i < rows_each; ++i) rows.push_back(random_row(vocabulary, random));

    const std::vector<GpuDrawn> drawn = draw_rows(*sampler, rows);

    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Row& row = rows[i];
      const llm::Drawn expected = cpu.draw(row.sampling, row.logits, row.before,
                                           static_cast<std::uint32_t>(row.before.size()));
      const auto token = static_cast<llm::Token>(drawn[i].token);
      ASSERT_LT(drawn[i].token, vocabulary) << describe(row);
      if (token != expected.token) {
        ++different;
        const bool possible =
            std::ranges::any_of(row.logits, [](float logit) { return logit > -INFINITY; });
        ASSERT_TRUE(possible && Judge(row).accepts(token))
            << token << ", not " << expected.token << ": " << describe(row);
      }
      if (!(row.logits[drawn[i].token] > -INFINITY)) {
        EXPECT_EQ(drawn[i].logprob, 0) << describe(row);
        continue;
      }
      // The error bound of up to 151,936 terms in tiles, with some units of error of exp() and
      // log().
      const double logprob = row.logits[drawn[i].token] - llm::log_sum_exp(row.logits);
      EXPECT_NEAR(drawn[i].logprob, logprob, 2e-5 + 1e-6 * std::abs(logprob)) << describe(row);
    }
  }
  // Ties within rounding are rare. This bound fails if the check accepts wrong tokens as ties.
  EXPECT_LE(different, std::max(1u, draws / 100));
  RecordProperty("different", static_cast<int>(different));
}

TEST_F(GpuSamplerTest, KeepsTheFirstOfEquals) {
  constexpr std::uint32_t vocabulary = 512;
  const auto sampler = create({.vocabulary = vocabulary, .rows = 4, .slots = 4});
  llm::Sampler cpu;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::vector<Row> rows(4, {.logits = std::vector<float>(vocabulary, 1.5f),
                              .before = {1},
                              .sampling = {.temperature = 1, .seed = seed}});
    rows[0].sampling.top_k = 3;
    rows[1].sampling.top_p = 0.25f;  // top_p keeps exactly 128 tokens.
    rows[2].sampling.top_k = 8;
    rows[2].sampling.top_p = 0.5f;  // top_p keeps exactly 4 of the 8 tokens.
    rows[3].sampling.min_p = 1;     // min_p keeps all tokens with the highest logit.
    rows[3].logits[7] = 1;          // min_p drops this token.

    const auto drawn = draw_rows(*sampler, rows);

    for (std::size_t i = 0; i < rows.size(); ++i)
      EXPECT_EQ(static_cast<llm::Token>(drawn[i].token),
                cpu.draw(rows[i].sampling, rows[i].logits, rows[i].before, 1).token)
          << i << " " << seed;
    EXPECT_LT(drawn[0].token, 3u);
    EXPECT_LT(drawn[1].token, 128u);
    EXPECT_LT(drawn[2].token, 4u);
  }
}

TEST_F(GpuSamplerTest, DrawsWhatItsMaskLets) {
  constexpr std::uint32_t vocabulary = 5'000;
  const auto sampler = create({.vocabulary = vocabulary, .rows = 2, .slots = 2});
  llm::Sampler cpu;
  std::mt19937_64 random(5);
  for (std::uint32_t round = 0; round < 40; ++round) {
    std::vector<float> logits(vocabulary);
    for (float& logit : logits) logit = static_cast<float>(random() % 1000) * 0.01f;
    const llm::Sampling sampling{.temperature = round % 2 == 0 ? 0.0f : 1.0f, .seed = round};
    const std::vector<Row> rows(2, {.logits = logits, .before = {1, 2}, .sampling = sampling});
    // Row 0 uses slot 1. The mask may be shorter than the vocabulary; missing words count as 0.
    std::vector<std::uint64_t> allowed(round % 3 == 0 ? 20 : (vocabulary + 63) / 64);
    for (std::uint64_t& word : allowed) word = random() & random();
    sampler->set_mask(1, allowed);

    const auto drawn = draw_rows(*sampler, rows);

    std::vector<float> masked = logits;
    for (std::size_t i = 0; i < masked.size(); ++i) {
      if (i / 64 >= allowed.size() || (allowed[i / 64] >> (i % 64) & 1) == 0) masked[i] = -INFINITY;
    }
    EXPECT_EQ(static_cast<llm::Token>(drawn[0].token), cpu.choose(sampling, masked, {}, 2));
    EXPECT_EQ(static_cast<llm::Token>(drawn[1].token), cpu.choose(sampling, logits, {}, 2));
    EXPECT_NEAR(drawn[0].logprob, logits[drawn[0].token] - llm::log_sum_exp(logits), 1e-4);

    sampler->set_mask(1, {});
    EXPECT_EQ(static_cast<llm::Token>(draw_rows(*sampler, rows)[0].token),
              cpu.choose(sampling, logits, {}, 2));
  }
}

TEST_F(GpuSamplerTest, TakesTokenZeroWhereNothingIsPossible) {
  const auto sampler = create({.vocabulary = 3, .rows = 2, .slots = 2});

  const auto drawn = draw_rows(
      *sampler,
      {{.logits = {NAN, -INFINITY, NAN}, .before = {0}, .sampling = {}},
       {.logits = {NAN, NAN, NAN}, .before = {0}, .sampling = {.temperature = 1, .top_p = 0.5f}}});

  for (const GpuDrawn& row : drawn) {
    EXPECT_EQ(row.token, 0u);
    EXPECT_EQ(row.logprob, 0);
  }
}

TEST_F(GpuSamplerTest, SeesAPenalizedLogitOfZero) {
  const auto sampler = create({.vocabulary = 2});
  const llm::Sampling sampling{.temperature = 1, .top_p = 0, .presence_penalty = 0.5f};

  const auto drawn =
      draw_rows(*sampler, {{.logits = {0.5f, 0.25f}, .before = {0}, .sampling = sampling}});

  EXPECT_EQ(drawn[0].token, 1u);
}

TEST_F(GpuSamplerTest, ForgetsThePenaltiesOfTheDrawBefore) {
  const auto sampler = create({.vocabulary = 2});
  const llm::Sampling sampling{.presence_penalty = 1};

  const auto first =
      draw_rows(*sampler, {{.logits = {1, 0.5f}, .before = {0}, .sampling = sampling}});
  const auto second =
      draw_rows(*sampler, {{.logits = {1, 0.5f}, .before = {1}, .sampling = sampling}});

  EXPECT_EQ(first[0].token, 1u);
  EXPECT_EQ(second[0].token, 0u);
}

TEST_F(GpuSamplerTest, GoesOnWithoutTheCpu) {
  constexpr std::uint32_t vocabulary = 300, steps = 16,
                          // The length is close to the end of the history, so that the history
                          // wraps during the steps.
      length = draw_history - 5;
  const auto sampler = create({.vocabulary = vocabulary, .rows = 3, .slots = 5, .steps = steps});
  const std::vector<std::uint32_t> slots = {4, 2};
  std::vector<Row> rows;
  for (std::uint32_t i = 0; i < 2; ++i) {
    Row row{.logits = test::random_floats(vocabulary, i, 2),
            .before = {},
            .sampling = {.presence_penalty = 3, .penalty_window = 20}};
    for (std::uint32_t position = 0; position < length; ++position)
      row.before.push_back(static_cast<llm::Token>(position % vocabulary));
    rows.push_back(std::move(row));
  }
  rows[1].sampling = {
      .temperature = 0.7f, .top_k = 20, .frequency_penalty = 1, .penalty_window = 4096, .seed = 5};
  std::vector<float> logits;
  std::vector<RowPlace> places;
  for (std::uint32_t i = 0; i < 2; ++i) {
    logits.insert(logits.end(), rows[i].logits.begin(), rows[i].logits.end());
    places.push_back({.slot = slots[i], .position = length - 1});
    sampler->set_sampling(slots[i], row_sampling(rows[i].sampling));
    // The history is written in two parts, as prompts are read.
    const std::vector<std::uint32_t> before(rows[i].before.begin(), rows[i].before.end());
    sampler->remember(slots[i], 0, std::span(before).first(1000));
    sampler->remember(slots[i], 1000, std::span(before).subspan(1000));
  }
  const gpu::Buffer logits_buffer = upload(logits), tokens = upload(std::vector<std::uint32_t>(2)),
                    places_buffer = upload(places);
  const GpuSampler::Rows bound = sampler->bind(logits_buffer, tokens, places_buffer);

  // The logits are the same in every step; only the history changes.
  std::uint32_t last = draw(*sampler, bound, slots, 9);
  EXPECT_EQ(last, 8u);
  last = draw(*sampler, bound, slots, 11);
  EXPECT_EQ(last, 19u);

  const auto ring = download<GpuDrawn>(sampler->drawn(), std::size_t{steps} * 3);
  llm::Sampler cpu;
  for (std::size_t i = 0; i < 2; ++i) {
    Row& row = rows[i];
    std::vector<llm::Token> expected, got;
    for (std::uint32_t step = 0; step < 20; ++step) {
      row.before.push_back(cpu.draw(row.sampling, row.logits, row.before,
                                    static_cast<std::uint32_t>(row.before.size()))
                               .token);
      if (step + steps < 20) continue;  // The ring has overwritten this step.
      expected.push_back(row.before.back());
      got.push_back(
          static_cast<llm::Token>(ring[sampler->drawn_offset(step) / sizeof(GpuDrawn) + i].token));
    }
    EXPECT_EQ(got, expected) << i;
    EXPECT_EQ(download<RowPlace>(places_buffer, 2)[i].position, length + 19);
  }
}

TEST_F(GpuSamplerTest, NeedsFewDispatches) {
  const auto sampler = create({.vocabulary = 100, .rows = 2, .slots = 3});
  sampler->set_sampling(1, {.temperature = 0.8f, .top_k = 40, .top_p = 0.9f});
  sampler->set_sampling(2, {.repetition_penalty = 1.1f});

  EXPECT_EQ(sampler->dispatches(std::vector<std::uint32_t>{0}), 2u);
  EXPECT_EQ(sampler->dispatches(std::vector<std::uint32_t>{0, 1}), 2u);
  EXPECT_EQ(sampler->dispatches(std::vector<std::uint32_t>{0, 2}), 3u);
}

TEST_F(GpuSamplerTest, SaysWhichVocabulariesItCannotTake) {
  const auto none =
      gpu::run(*test::machine().instance, GpuSampler::create(device(), {.vocabulary = 0}));
  const auto many =
      gpu::run(*test::machine().instance, GpuSampler::create(device(), {.vocabulary = 2'000'000}));

  EXPECT_EQ(none.error().message, "The vocabulary has 0 tokens; a GPU can draw from 1 to 1048576.");
  EXPECT_EQ(many.error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace weft::kernels
