// A worker with an embedding model, and a coordinator that the test plays: the worker loads the
// whole model, answers with the vectors of the engine, and refuses invalid requests.
#include "worker/inference/embedder.h"

#include <gtest/gtest.h>

#include <bit>

#include "common/base/test_data.h"
#include "common/proof/fingerprint.h"
#include "engine/gguf/mapped_file.h"
#include "engine/llm/run_now.h"
#include "worker/inference/serving.h"
#include "worker/inference/test_machine.h"

namespace weft::worker {
namespace {

namespace wire = protocol::serving;

constexpr std::uint32_t chunk_bytes = 1 << 16;

std::string packed(const std::vector<float>& vector) {
  ByteVector bytes;
  for (const float x : vector) append_le(bytes, std::bit_cast<std::uint32_t>(x));
  return to_base64(bytes);
}

class EmbedderTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto path = test::find_data("models/tiny-bert-random-f16.gguf");
    source_ = gguf::MappedFile::open(path->string()).value();
    file_ = gguf::read_file(*source_).value();
    model_ = llm::read_encoder(file_).value();
    own_ = llm::Encoder::create(model_, *source_, {.threads = 1}).value();
    const ByteSpan all = source_->view(0, source_->bytes()).value();
    const ByteVector bytes(all.begin(), all.end());
    ByteVector digests;
    for (std::size_t at = 0; at < bytes.size(); at += chunk_bytes)
      append(digests, crypto::sha256(ByteSpan(bytes).subspan(
                                         at, std::min<std::size_t>(chunk_bytes, bytes.size() - at)))
                          .span());
    order_ = {.shard = 1,
              .name = "vectors",
              .model = crypto::sha256(bytes),
              .bytes = bytes.size(),
              .header_bytes = file_.data_offset,
              .chunk_bytes = chunk_bytes,
              .chunks = crypto::sha256(digests),
              .first_layer = 0,
              .end_layer = model_.config.layers,
              .context = 512,
              .sequences = 64};
    blobs_[order_.model] = bytes;
    blobs_[order_.chunks] = digests;
    machine_.blobs = &blobs_;
    serving_ = std::make_unique<Serving>(machine_,
                                         Serving::Options{.memory_bytes = 1 << 30, .gb_per_s = 1});
    serving_->join("token");
    ASSERT_TRUE(time_.run_until([&] { return !machine_.all<wire::Offer>().empty(); }));
  }
  void link() {
    machine_.deliver(order_);
    ASSERT_TRUE(time_.run_until([&] { return !machine_.all<wire::Loaded>().empty(); }));
    machine_.deliver(wire::Link{.chain = 1, .epoch = 1, .members = {{.shard = 1, .lines = {}}}});
    ASSERT_TRUE(time_.run_until([&] { return !machine_.all<wire::Linked>().empty(); }));
  }
  void ask(std::uint32_t request, std::vector<std::int32_t> prompt, bool audit = false) {
    machine_.deliver(wire::Ask{
        .request = request, .chain = 1, .epoch = 1, .prompt = std::move(prompt), .audit = audit});
  }
  std::vector<wire::Answered> answers(std::size_t count) {
    EXPECT_TRUE(time_.run_until([&] { return machine_.all<wire::Answered>().size() >= count; }));
    return machine_.all<wire::Answered>();
  }
  std::vector<float> own(std::vector<std::int32_t> prompt) {
    return llm::run_now(own_->embed({std::move(prompt)})).value().front();
  }

  std::unique_ptr<gguf::MappedFile> source_;
  gguf::File file_;
  llm::EncoderModel model_;
  std::unique_ptr<llm::Encoder> own_;
  wire::Load order_;
  std::map<Hash, ByteVector> blobs_;
  SimulatedTime time_;
  SimulatedMachine machine_{time_};
  std::unique_ptr<Serving> serving_;
};

TEST_F(EmbedderTest, AnswersWithTheVectorsOfTheEngineWhateverComesTogether) {
  link();
  const auto loaded = machine_.all<wire::Loaded>().front();
  EXPECT_EQ(loaded.device, "cpu");
  EXPECT_EQ(loaded.sequences, 64u);

  for (std::uint32_t i = 0; i < 5; ++i) ask(i, {2, 10, static_cast<std::int32_t>(20 + i), 3});
  const auto told = answers(5);

  ASSERT_EQ(told.size(), 5u);
  for (const wire::Answered& one : told) {
    EXPECT_EQ(one.reason, "eos");
    EXPECT_EQ(one.prompt_tokens, 4u);
    EXPECT_EQ(one.vector, packed(own({2, 10, static_cast<std::int32_t>(20 + one.request), 3})));
  }
  EXPECT_TRUE(machine_.all<wire::Tokens>().empty());
  EXPECT_EQ(serving_->stats().running, 0u);
}

TEST_F(EmbedderTest, TellsAnAuditTheFingerprintAndNotTheVector) {
  link();
  ask(7, {2, 10, 3}, true);
  const auto told = answers(1);

  EXPECT_EQ(told.front().vector, "");
  const auto prints = machine_.all<wire::Tokens>();
  ASSERT_EQ(prints.size(), 1u);
  ASSERT_EQ(prints.front().prints.size(), 1u);
  EXPECT_EQ(prints.front().prints.front().at, 0u);
  EXPECT_EQ(prints.front().prints.front().data,
            to_base64(proof::fingerprint(own({2, 10, 3})).value()));
}

TEST_F(EmbedderTest, RefusesWhatItCannotReadAndAnswersTheRest) {
  link();
  ask(1, {});
  ask(2, {2, 1000, 3});
  ask(3, std::vector<std::int32_t>(513, 5));
  ask(4, {2, 3});
  const auto told = answers(4);

  std::map<std::uint32_t, wire::Answered> by;
  for (const wire::Answered& one : told) by[one.request] = one;
  for (const std::uint32_t bad : {1u, 2u, 3u}) {
    EXPECT_EQ(by.at(bad).reason, "failed");
    EXPECT_EQ(by.at(bad).code, "invalid_argument");
    EXPECT_EQ(by.at(bad).vector, "");
  }
  EXPECT_EQ(by.at(4).reason, "eos");
}

TEST_F(EmbedderTest, IsSilentAboutWhatWasDropped) {
  link();
  ask(1, {2, 10, 3});
  machine_.deliver(wire::Drop{.request = 1});
  ask(2, {2, 11, 3});
  time_.run_for(std::chrono::seconds(2));

  const auto told = machine_.all<wire::Answered>();
  EXPECT_EQ(std::ranges::count(told, 2u, &wire::Answered::request), 1);
}

TEST_F(EmbedderTest, ServesNoPartOfSuchAModel) {
  order_.end_layer = 1;
  machine_.deliver(order_);
  ASSERT_TRUE(time_.run_until([&] { return !machine_.all<wire::Unloaded>().empty(); }));
  EXPECT_EQ(machine_.all<wire::Unloaded>().front().message,
            "A model that makes vectors must be served whole, not only its layers 0 to 1.");
}

}  // namespace
}  // namespace weft::worker
