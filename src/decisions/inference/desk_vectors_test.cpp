// Tests a model that makes vectors: each worker serves it whole, the vectors of workers are
// checked, and audits check the vector that the client got.
#include <bit>
#include <cmath>

#include "common/proof/fingerprint.h"
#include "decisions/inference/modality.h"
#include "decisions/inference/test_desk.h"
#include "decisions/inference/vectors.h"

namespace weft::inference {
namespace {

ModelCard encoder(const std::string& name, std::uint32_t layers = 6) {
  ModelCard out = card(name, 1, layers);
  out.architecture = "bert";
  return out;
}

std::string packed(const std::vector<float>& vector) {
  ByteVector bytes;
  for (const float x : vector) append_le(bytes, std::bit_cast<std::uint32_t>(x));
  return to_base64(bytes);
}
// Returns a vector of `width` equal numbers whose length is 1.
std::vector<float> a_vector(std::size_t width) {
  std::vector<float> out(width, 1 / std::sqrt(static_cast<float>(width)));
  out[1] = -out[1];
  return out;
}

TEST(ReadVector, TakesFiniteNumbersOfLength1AndNothingElse) {
  EXPECT_EQ(read_vector(packed({0.6f, -0.8f}), 2).value(), (std::vector<float>{0.6f, -0.8f}));
  EXPECT_EQ(read_vector(packed({0.6f, -0.8f}), 3).error().message,
            "The vector is not 3 numbers in base64.");
  EXPECT_EQ(read_vector("!", 2).error().message, "The vector is not 2 numbers in base64.");
  EXPECT_EQ(read_vector(packed({0.6f, 0.6f}), 2).error().message,
            "The vector's squares add up to 0.720000 and not to 1.");
  EXPECT_FALSE(read_vector(packed({1, std::nanf("")}), 2));
  EXPECT_FALSE(read_vector(packed({1, INFINITY}), 2));
}

TEST(DeskVectors, AreAskedOfOneWorkerWithAllOfTheModel) {
  Network network;
  // The model takes 70 MB: the two workers together would have room for it, and neither has alone.
  network.join(1, 50);
  network.join(2, 50);
  network.desk.put_model(encoder("e"), network.time);
  network.settle();
  EXPECT_EQ(network.desk.models()[0].state, ModelState::no_worker);

  network.join(3, 100);
  network.pass(5s);

  EXPECT_EQ(network.desk.models()[0].state, ModelState::ready);
  ASSERT_EQ(network.desk.chains().size(), 1u);
  ASSERT_EQ(network.desk.chains()[0].members.size(), 1u);
  EXPECT_EQ(network.desk.chains()[0].members[0].end, 6u);
}

TEST(DeskVectors, EndWithTheVectorAndAFingerprintThatTheDeskMade) {
  Network network;
  network.join(1);
  network.desk.put_model(encoder("e"), network.time);
  network.settle();
  const RequestId id = network.ask("e", 0);
  const wire::Ask ask = network.asked[1].at(id);
  const std::vector<float> vector = a_vector(64);

  // A fingerprint that the worker sends for its own vector is ignored.
  network.desk.hear(
      1, wire::Tokens{.request = id, .epoch = ask.epoch, .prints = {{.at = 0, .data = "AAAA"}}},
      network.time);
  network.desk.hear(1,
                    wire::Answered{.request = id,
                                   .epoch = ask.epoch,
                                   .reason = "eos",
                                   .prompt_tokens = 3,
                                   .vector = packed(vector)},
                    network.time);

  ASSERT_TRUE(network.ends.contains(id));
  const AnswerEnd& end = network.ends[id];
  EXPECT_EQ(end.reason, "eos");
  EXPECT_EQ(end.vector, vector);
  EXPECT_EQ(end.prompt_tokens, 3u);
  EXPECT_EQ(end.answer_tokens, 0u);
  EXPECT_EQ(end.prints, (Prints{{0, proof::fingerprint(vector).value()}}));
  ASSERT_EQ(end.work.size(), 1u);
  EXPECT_EQ(end.work[0].work, 3u * 6) << "it is paid for the prompt";
}

TEST(DeskVectors, ThatAreNoneAreAskedOfAnotherWorker) {
  Network network;
  network.join(1);
  network.desk.put_model(encoder("e"), network.time);
  network.settle();
  const RequestId id = network.ask("e", 0);
  const wire::Ask ask = network.asked[1].at(id);

  network.desk.hear(1,
                    wire::Answered{.request = id,
                                   .epoch = ask.epoch,
                                   .reason = "eos",
                                   .vector = packed(std::vector<float>(64, 1))},
                    network.time);
  network.settle();

  EXPECT_FALSE(network.ends.contains(id)) << "the request is asked again";
  EXPECT_EQ(network.desk.counters().resumed, 1u);
}

}  // namespace
}  // namespace weft::inference
