// Tests of the reply to a client: a document or a stream, and an error status if nothing was sent
// yet.
#include "apps/coordinator/http/completion_reply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::coordinator {
namespace {

using testing::HasSubstr;
using testing::Not;

class Recorded final : public net::ReplyStream {
 public:
  bool send(const std::string& bytes) override {
    text += bytes;
    return true;
  }
  void close() override { closed = true; }
  std::string text;
  bool closed = false;
};

// A client of a reply that records everything that it is sent.
struct TestClient {
  std::vector<net::Reply> replies;
  std::shared_ptr<Recorded> stream = std::make_shared<Recorded>();

  CompletionReply ask(const OpenAiRequest& request) {
    return CompletionReply(request,
                           {.respond =
                                [this](net::Reply reply) {
                                  if (reply.stream) reply.stream(stream);
                                  replies.push_back(std::move(reply));
                                },
                            .headers = {{"x-rate", "7"}}},
                           1000);
  }
};

OpenAiRequest request_of(bool stream, std::uint32_t choices = 1) {
  OpenAiRequest out;
  out.model = "m";
  out.stream = stream;
  out.choices = choices;
  out.prompts = {"p"};
  return out;
}

inference::AnswerEnd failed(ErrorCode code, std::string message, std::uint32_t shards = 0) {
  return {.reason = "failed", .error = {code, std::move(message)}, .shards = shards};
}

TEST(CompletionReply, IsOneDocumentWhenAllChoicesHaveEnded) {
  TestClient client;
  CompletionReply reply = client.ask(request_of(false, 2));

  reply.tokens(1, {{.text = "second"}});
  reply.tokens(0, {{.text = "first"}});
  EXPECT_FALSE(reply.end(1, {.reason = "eos"}));
  EXPECT_TRUE(client.replies.empty());
  EXPECT_TRUE(reply.end(0, {.reason = "eos", .trust = "verified"}));

  ASSERT_EQ(client.replies.size(), 1U);
  EXPECT_EQ(client.replies[0].status, 200);
  EXPECT_EQ(client.replies[0].headers.at("x-rate"), "7");
  EXPECT_EQ(client.replies[0].headers.at("x-weft-trust"), "verified");
  EXPECT_THAT(client.replies[0].body, HasSubstr("first"));
  EXPECT_THAT(client.replies[0].body, HasSubstr("second"));
}

TEST(CompletionReply, StreamsFromTheFirstTokenOn) {
  TestClient client;
  CompletionReply reply = client.ask(request_of(true));
  EXPECT_TRUE(client.replies.empty()) << "so that a failure can still have a status";

  reply.tokens(0, {{.text = "one"}});
  ASSERT_EQ(client.replies.size(), 1U);
  EXPECT_EQ(client.replies[0].headers.at("x-rate"), "7");
  EXPECT_THAT(client.stream->text, HasSubstr("one"));
  EXPECT_FALSE(client.stream->closed);

  EXPECT_TRUE(reply.end(0, {.reason = "eos"}));
  EXPECT_THAT(client.stream->text, HasSubstr("data: [DONE]"));
  EXPECT_TRUE(client.stream->closed);
  EXPECT_EQ(client.replies.size(), 1U);
}

TEST(CompletionReply, FailsWithAStatusIfNothingWasSaidAndInTheStreamAfterThat) {
  TestClient early;
  CompletionReply first = early.ask(request_of(true, 2));
  EXPECT_TRUE(first.end(1, failed(ErrorCode::unavailable, "No worker."))) << "others do not matter";
  ASSERT_EQ(early.replies.size(), 1U);
  EXPECT_EQ(early.replies[0].status, 503);
  EXPECT_EQ(early.replies[0].headers.at("x-rate"), "7");

  TestClient late;
  CompletionReply second = late.ask(request_of(true));
  second.tokens(0, {{.text = "one"}});
  EXPECT_TRUE(second.end(0, failed(ErrorCode::unavailable, "Its worker left.", 1)));
  ASSERT_EQ(late.replies.size(), 1U);
  EXPECT_EQ(late.replies[0].status, 200);
  EXPECT_THAT(late.stream->text, HasSubstr("Its worker left."));
  EXPECT_TRUE(late.stream->closed);
}

TEST(CompletionReply, NamesTheKeyThatTheAnswerIsHeldToIfAWorkerRefusesIt) {
  const auto body_of = [](ErrorCode code) {
    TestClient client;
    OpenAiRequest request = request_of(false);
    request.held_by = "response_format";
    (void)client.ask(request).end(0, failed(code, "It does not.", 1));
    return client.replies.at(0).body;
  };

  EXPECT_THAT(body_of(ErrorCode::unsupported), HasSubstr(R"("param":"response_format")"));
  EXPECT_THAT(body_of(ErrorCode::deadline_exceeded), HasSubstr(R"("param":"deadline_ms")"));
  EXPECT_THAT(body_of(ErrorCode::unavailable), Not(HasSubstr("response_format")));
}

TEST(CompletionReply, GoesToAnotherEndpointOnlyIfTheNetworkCouldNotBegin) {
  const auto passed_on = [](const inference::AnswerEnd& end, bool says_something) {
    TestClient client;
    bool passed = false;
    OpenAiRequest request = request_of(true);
    request.otherwise = [&](const Error&, const net::Respond& respond) {
      passed = true;
      respond(net::json_reply(200, "{}"));
    };
    CompletionReply reply = client.ask(request);
    if (says_something) reply.tokens(0, {{.text = "one"}});
    EXPECT_TRUE(reply.end(0, end));
    EXPECT_EQ(client.replies.size(), 1U);
    return passed;
  };

  EXPECT_TRUE(passed_on(failed(ErrorCode::unavailable, "No worker."), false));
  EXPECT_TRUE(passed_on(failed(ErrorCode::deadline_exceeded, "Too late."), false));
  EXPECT_TRUE(passed_on(failed(ErrorCode::resource_exhausted, "Too many wait."), false));
  EXPECT_FALSE(passed_on(failed(ErrorCode::resource_exhausted, "The context is full."), false));
  EXPECT_FALSE(passed_on(failed(ErrorCode::invalid_argument, "Wrong."), false));
  EXPECT_FALSE(passed_on(failed(ErrorCode::unavailable, "Its worker left.", 1), false));
  EXPECT_FALSE(passed_on(failed(ErrorCode::unavailable, "No worker."), true));
}

TEST(CompletionReply, IsWantedAsLongAsItsClientIsThere) {
  bool there = true;
  const CompletionReply reply(
      request_of(false), {.connected = [&] { return there; }, .respond = [](net::Reply) {}}, 1000);

  EXPECT_TRUE(reply.is_wanted());
  there = false;
  EXPECT_FALSE(reply.is_wanted());
}

}  // namespace
}  // namespace weft::coordinator
