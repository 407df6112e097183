// Tests that a model's texts are read by a separate process, which lives while it is used and ends
// after a minute without use.
#include "apps/coordinator/http/model_texts.h"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <future>

#include "common/crypto/sha256.h"

namespace weft::coordinator {
namespace {

namespace fs = std::filesystem;

class FakeReader final : public TextReader {
 public:
  explicit FakeReader(std::atomic<int>& alive) : alive_(alive) { ++alive_; }
  FakeReader(const FakeReader&) = delete;
  ~FakeReader() override { --alive_; }
  Result<TokenTexts> open(std::uint64_t, ByteSpan) override { return TokenTexts{}; }
  Result<ReadPrompt> prompt(const TextRequest&, const std::string& prompt) override {
    return ReadPrompt{.tokens = {static_cast<std::int32_t>(prompt.size())}};
  }
  Result<Told> look(const TextRequest&) override { return Told{}; }
  bool alive() const override { return true; }

 private:
  std::atomic<int>& alive_;
};

class ModelTextsTest : public testing::Test {
 protected:
  ModelTextsTest() {
    std::string name = (fs::temp_directory_path() / "weft-texts-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    blobs_ = store::Blobs::open(folder_, {}).value();
    texts_ = std::make_unique<ModelTexts>(*blobs_, [this] {
      ++made;
      return std::make_unique<FakeReader>(alive);
    });
  }
  ~ModelTextsTest() override {
    texts_.reset();
    blobs_.reset();
    fs::remove_all(folder_);
  }
  // Reads the prompt "abc" for a model whose file is the one byte `model`. Returns the first token,
  // which is the prompt's length, or -1 after an error.
  std::int32_t ask(std::uint8_t model) {
    const std::array<std::uint8_t, 1> head = {model};
    const Hash file = blobs_->put(head).value();
    std::promise<std::int32_t> read;
    texts_->read({.file = file, .file_bytes = 1, .head_bytes = 1, .prompts = {"abc"}},
                 [&](const Result<ModelTexts::Read>& result) {
                   read.set_value(result ? result->prompts.at(0).tokens.at(0) : -1);
                 });
    return read.get_future().get();
  }

  std::atomic<int> made = 0, alive = 0;
  fs::path folder_;
  std::unique_ptr<store::Blobs> blobs_;
  std::unique_ptr<ModelTexts> texts_;
};

TEST_F(ModelTextsTest, EndAProcessThatWasNotUsedForAMinuteAndStartItAgainWhenItIsNeeded) {
  EXPECT_EQ(ask(1), 3);
  EXPECT_EQ(ask(1), 3);
  EXPECT_EQ(made, 1);
  EXPECT_EQ(alive, 1);

  texts_->end_idle(now());
  EXPECT_EQ(alive, 1) << "it was used less than a minute ago";
  texts_->end_idle(now() + ModelTexts::idle_max);
  EXPECT_EQ(alive, 0);

  EXPECT_EQ(ask(1), 3);
  EXPECT_EQ(made, 2);
  EXPECT_EQ(alive, 1);
}

}  // namespace
}  // namespace weft::coordinator
