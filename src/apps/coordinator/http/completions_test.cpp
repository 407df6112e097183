// Tests of a client's request from its texts to the reply: tokens of workers reach the client, each
// answer is reported once, and an answer that must be verified is sent only after its audit.
#include "apps/coordinator/http/completions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <future>

#include "decisions/inference/test_desk.h"
#include "platform/store/memory/memory_store.h"

namespace weft::coordinator {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

// A vocabulary of the letters a to z; a prompt has a token for each letter.
class LetterReader final : public TextReader {
 public:
  Result<TokenTexts> open(std::uint64_t, ByteSpan) override {
    TokenTexts out;
    for (char letter = 'a'; letter <= 'z'; ++letter) WEFT_OK(out.add({&letter, 1}, {}));
    return out;
  }
  Result<ReadPrompt> prompt(const TextRequest&, const std::string& prompt) override {
    ReadPrompt out;
    for (const char letter : prompt) out.tokens.push_back(letter - 'a');
    return out;
  }
  Result<Told> look(const TextRequest&) override { return Told{.tokens = {1, 2}}; }
  bool alive() const override { return true; }
};

// A desk with simulated workers, whose tokens go to the completions.
struct Served final : inference::Network {
  Served() : Network({.silent_max = std::chrono::hours(1), .stall_max = std::chrono::hours(1)}) {
    time = now();
  }
  void tokens(inference::RequestId request,
              const std::vector<protocol::serving::Token>& tokens) override {
    completions->tokens(request, tokens);
  }
  void ended(inference::RequestId request, const inference::AnswerEnd& end) override {
    completions->ended(request, end);
  }
  Completions* completions = nullptr;
};

class CompletionsTest : public testing::Test {
 protected:
  CompletionsTest() {
    std::string name = (fs::temp_directory_path() / "weft-completions-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    blobs_ = store::Blobs::open(folder_, {}).value();
    texts_ = std::make_unique<ModelTexts>(*blobs_, [] { return std::make_unique<LetterReader>(); });
    inference::ModelCard card = inference::card("m");
    const std::array<std::uint8_t, 1> head = {1};
    card.file = blobs_->put(head).value().text();
    card.bytes = card.header_bytes = 1;
    EXPECT_TRUE(catalog_.add(card, network_.desk, network_.time));
    network_.completions = &completions_;
    network_.join(1);
    records_.listen(
        {.ended = [this](const auto& report) { reports_.push_back(report); }, .audited = {}});
    completions_.set_texts(*texts_);
    thread_.start(network_.desk,
                  {.clients_wait = [this] { return completions_.any(); },
                   .look = [this](Instant now) { completions_.drop_gone(network_.desk, now); },
                   .end = [this] { completions_.end_all(); }});
  }
  ~CompletionsTest() override {
    thread_.stop();
    texts_.reset();
    blobs_.reset();
    fs::remove_all(folder_);
  }

  // Runs `work` on the thread of inference and waits for it.
  void on_thread(const std::function<void()>& work) {
    std::promise<void> done;
    ASSERT_TRUE(thread_.post([&](inference::Desk&, Instant now) {
      network_.time = now;
      network_.settle();
      work();
      done.set_value();
    }));
    done.get_future().wait();
  }
  // Sends a request with `ids` ids for its answers. The future gets the reply.
  std::future<net::Reply> ask(OpenAiRequest request, std::size_t ids,
                              const net::IncomingRequest& from = {}) {
    ChargedAnswers charged;
    for (std::uint8_t i = 1; i <= ids; ++i) charged.answers.push_back(billing::AnswerId{{{{i}}}});
    auto reply = std::make_shared<std::promise<net::Reply>>();
    completions_.answer(
        std::move(request), from, [reply](net::Reply what) { reply->set_value(std::move(what)); },
        std::move(charged));
    return reply->get_future();
  }
  void draw_until(const std::function<bool()>& is_so) {
    for (bool so = false; !so;)
      on_thread([&] {
        network_.draw();
        so = is_so();
      });
  }
  net::Reply reply_of(std::future<net::Reply> reply) {
    draw_until(
        [&] { return reply.wait_for(std::chrono::milliseconds(1)) == std::future_status::ready; });
    return reply.get();
  }
  static OpenAiRequest request_of(std::vector<std::string> prompts, std::uint32_t choices = 1) {
    OpenAiRequest out;
    out.chat = false;
    out.model = "m";
    out.prompts = std::move(prompts);
    out.choices = choices;
    out.ask.tokens_max = 3;
    return out;
  }
  std::vector<std::string> reasons() {
    std::vector<std::string> out;
    on_thread([&] {
      for (const auto& report : reports_) out.push_back(report.end.reason);
    });
    return out;
  }

  fs::path folder_;
  std::unique_ptr<store::Blobs> blobs_;
  std::unique_ptr<ModelTexts> texts_;
  std::unique_ptr<store::Store> store_ = store::memory::create();
  store::GroupCommit commits_{*store_, {}};
  jobs::Book book_;
  Served network_;
  InferenceThread thread_;
  ModelCatalog catalog_{ModelRegistry::open(commits_, {}).value(), book_};
  CompletionRecords records_{thread_, network_.desk};
  Completions completions_{{.thread = thread_,
                            .models = catalog_,
                            .records = records_,
                            .activations = "f32",
                            .newcomers_answer = true}};
  std::vector<billing::AnswerReport> reports_;
};

TEST_F(CompletionsTest, TellTheClientWhatWorkersDrewForEachPromptAndChoice) {
  const net::Reply reply = reply_of(ask(request_of({"xy", "z"}, 2), 4));

  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.headers.at("x-weft-trust"), "anyone");
  std::size_t answers = 0;
  for (auto at = reply.body.find("abc"); at != std::string::npos;
       at = reply.body.find("abc", at + 1))
    ++answers;
  EXPECT_EQ(answers, 4U) << reply.body;
  EXPECT_THAT(reasons(), testing::ElementsAre("length", "length", "length", "length"));
}

TEST_F(CompletionsTest, RefuseBeforeAnyWorkerIsAskedAndReportEveryAnswerOnce) {
  OpenAiRequest unknown = request_of({"a"}, 2);
  unknown.model = "x";
  EXPECT_EQ(reply_of(ask(unknown, 2)).status, 404);
  EXPECT_THAT(reasons(), testing::ElementsAre("failed", "failed"));

  EXPECT_EQ(reply_of(ask(request_of({""}), 1)).status, 400);
  EXPECT_EQ(reasons().size(), 3U);
  on_thread([&] { EXPECT_TRUE(network_.asked[1].empty()); });
}

TEST_F(CompletionsTest, AnswerALookWithoutAWorker) {
  OpenAiRequest look = request_of({"ab"});
  look.look.kind = TextLook::Kind::tokens;

  const net::Reply reply = reply_of(ask(look, 1));

  EXPECT_EQ(reply.status, 200);
  EXPECT_THAT(reply.body, HasSubstr("[1,2]"));
  EXPECT_THAT(reasons(), testing::ElementsAre("told"));
}

TEST_F(CompletionsTest, HoldAnAnswerBackUntilItsAuditHasSettledIt) {
  const auto settle = [&](billing::AnswerFate fate) {
    reports_.clear();
    OpenAiRequest request = request_of({"a"});
    request.trust = AnswerTrust::verified;
    auto reply = ask(request, 1);
    draw_until([&] { return !reports_.empty(); });
    EXPECT_TRUE(reports_.at(0).must_audit);
    EXPECT_EQ(reply.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
    on_thread([&] { completions_.settled(reports_.at(0).id, fate); });
    return reply.get();
  };

  const net::Reply verified = settle(billing::AnswerFate::verified);
  EXPECT_EQ(verified.status, 200);
  EXPECT_EQ(verified.headers.at("x-weft-trust"), "verified");
  EXPECT_THAT(verified.body, HasSubstr("abc"));

  const net::Reply refuted = settle(billing::AnswerFate::refuted);
  EXPECT_EQ(refuted.status, 503);
  EXPECT_THAT(refuted.body, Not(HasSubstr("abc")));
  EXPECT_EQ(settle(billing::AnswerFate::unaudited).status, 503);
}

TEST_F(CompletionsTest, DropWhatAClientThatIsGoneAskedFor) {
  std::atomic<bool> there = true;
  net::IncomingRequest from;
  from.connected = [&] { return there.load(); };
  const auto reply = ask(request_of({"a"}), 1, from);
  for (bool asked = false; !asked;) on_thread([&] { asked = !network_.asked[1].empty(); });

  there = false;

  for (bool dropped = false; !dropped;) on_thread([&] { dropped = network_.asked[1].empty(); });
  EXPECT_THAT(reasons(), testing::ElementsAre("cancelled"));
}

TEST_F(CompletionsTest, EndWithAReplyWhenTheCoordinatorStops) {
  auto reply = ask(request_of({"a"}), 1);
  for (bool asked = false; !asked;) on_thread([&] { asked = !network_.asked[1].empty(); });

  thread_.stop();

  EXPECT_EQ(reply.get().status, 503);
  ASSERT_EQ(reports_.size(), 1U);
  EXPECT_EQ(reports_[0].end.reason, "failed");
}

}  // namespace
}  // namespace weft::coordinator
