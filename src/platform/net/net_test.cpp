// The server and the client against each other over loopback, with and without TLS. Drogon allows
// one server for each process, so all tests share one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <future>
#include <thread>

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "common/base/format.h"
#include "common/base/guarded.h"
#include "platform/net/client.h"
#include "platform/net/server.h"
#include "platform/net/tls.h"

namespace weft::net {
namespace {

namespace fs = std::filesystem;

fs::path scratch() {
  static const fs::path folder = [] {
    std::string pattern = (fs::temp_directory_path() / "weft-net-XXXXXX").string();
    return fs::path(mkdtemp(pattern.data()));
  }();
  return folder;
}

class CountingUpload final : public Upload {
 public:
  Result<> write(std::string_view bytes) override {
    size_ += bytes.size();
    if (size_ > 3'000'000) return fail(ErrorCode::resource_exhausted, "At most 3000000 bytes.");
    return {};
  }
  void finish(Respond respond) override { respond(text_reply(201, std::to_string(size_))); }
  void abandon() override {}

 private:
  std::size_t size_ = 0;
};

// A server over TLS that echoes; started once for all tests.
class Net : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    fs::create_directories(scratch() / "web" / "assets");
    std::ofstream(scratch() / "web" / "index.html") << "<!doctype html>" << std::string(5000, 'a');
    std::ofstream(scratch() / "web" / "assets" / "a.js") << "export {}";
    std::ofstream(scratch() / "blob") << "0123456789";
    tls = self_signed(scratch() / "tls", {"127.0.0.1", "localhost"}, unix_now()).value();
    server = Server::create({.address = "127.0.0.1",
                             .tls = tls,
                             .scratch = scratch() / "incoming",
                             .web = scratch() / "web"})
                 .value();
    server->route({.method = "POST",
                   .pattern = "/v1/echo/{}",
                   .handle =
                       [](IncomingRequest request, const Respond& respond) {
                         respond(text_reply(200, request.parameters.at(0) + ":" +
                                                     request.query["q"] + ":" +
                                                     std::to_string(request.body.size())));
                       },
                   .body_bytes_max = 1'000'000});
    server->route({.method = "GET",
                   .pattern = "/v1/blob",
                   .handle = [](const IncomingRequest& request, const Respond& respond) {
                     respond(file_reply(request,
                                        {.path = scratch() / "blob", .offset = 1, .size = 9}, "tag",
                                        "application/octet-stream"));
                   }});
    server->route({.method = "GET",
                   .pattern = "/v1/costly",
                   .handle = [](const IncomingRequest&,
                                const Respond& respond) { respond(text_reply(200, "ok")); },
                   .cost = 150});
    server->route({.method = "GET",
                   .pattern = "/v1/up/{}",
                   .handle = [](const IncomingRequest&, const Respond& respond) {
                     respond(text_reply(200, "down"));
                   }});
    server->route({.method = "GET",
                   .pattern = "/v1/bits",
                   .handle = [](const IncomingRequest& request, const Respond& respond) {
                     Reply reply{.headers = {{"content-type", "text/event-stream"}}};
                     reply.stream = [connected =
                                         request.connected](std::shared_ptr<ReplyStream> stream) {
                       std::thread([stream = std::move(stream), connected] {
                         for (const char* bit : {"data: a\n\n", "data: b\n\n", "data: c\n\n"})
                           EXPECT_TRUE(connected() && stream->send(bit));
                         stream->close();
                       }).detach();
                     };
                     respond(std::move(reply));
                   }});
    server->upload({.pattern = "/v1/up/{}",
                    .begin = [](const IncomingRequest& request) -> Result<std::unique_ptr<Upload>> {
                      if (request.bearer() != "secret")
                        return fail(ErrorCode::unauthenticated, "No token.");
                      return std::make_unique<CountingUpload>();
                    }});
    server->socket({.path = "/v1/echo-socket",
                    .message_bytes_max = 100'000,
                    .opened = [](const std::shared_ptr<Peer>& peer) { peer->send_text("hello"); },
                    .text =
                        [](const std::shared_ptr<Peer>& peer, const std::string& text) {
                          if (text == "close") return peer->close("as you wish");
                          peer->send_text(text);
                        },
                    .binary = [](const std::shared_ptr<Peer>& peer,
                                 std::string bytes) { peer->send_binary(std::move(bytes)); },
                    .oversized =
                        [](const std::shared_ptr<Peer>& peer, std::size_t bytes) {
                          peer->send_text("too large: " + std::to_string(bytes));
                          peer->close("too large");
                        },
                    .closed = [](const std::shared_ptr<Peer>&) {}});
    ASSERT_TRUE(server->start().has_value());
    client = Client::create({.url = server->url(), .tls = {.ca_cert = tls.certificate.string()}})
                 .value();
  }
  static void TearDownTestSuite() {
    client.reset();
    server->stop();
    server.reset();
    std::error_code ignored;
    fs::remove_all(scratch(), ignored);
  }

  static inline TlsFiles tls;
  static inline std::unique_ptr<Server> server;
  static inline std::unique_ptr<Client> client;
};

TEST_F(Net, AnswersBitByBit) {
  const auto answer = client->send_now(get("/v1/bits"));
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->headers.at("content-type"), "text/event-stream");
  EXPECT_EQ(answer->body, "data: a\n\ndata: b\n\ndata: c\n\n");
}

// Sends bytes that no library would send, and returns the answer up to the end of the connection.
std::string answer_to(std::uint16_t port, std::string_view bytes) {
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  BIO* connection = BIO_new_ssl_connect(context);
  BIO_set_conn_hostname(connection, ("127.0.0.1:" + std::to_string(port)).c_str());
  std::string answer;
  if (BIO_do_connect(connection) == 1 && BIO_do_handshake(connection) == 1) {
    BIO_write(connection, bytes.data(), static_cast<int>(bytes.size()));
    char part[4096];
    for (int count; (count = BIO_read(connection, part, sizeof part)) > 0;)
      answer.append(part, static_cast<std::size_t>(count));
  }
  BIO_free_all(connection);
  SSL_CTX_free(context);
  return answer;
}

TEST_F(Net, RefusesRequestsOfUnknownLength) {
  const std::string head =
      "POST /v1/echo/a HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
  for (const auto& [fields, sentence] :
       {std::pair("Content-Length: 5\r\nContent-Length: 40\r\n",
                  "The request has two Content-Lengths that differ: 5 and 40."),
        std::pair("Content-Length: 5, 40\r\n",
                  "The Content-Length of the request is not a number."),
        std::pair("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
                  "The request has a Content-Length and a Transfer-Encoding; only one of them says "
                  "how long it is.")}) {
    const std::string answer =
        answer_to(server->port(),
                  head + fields + "\r\nhelloGET /v1/blob HTTP/1.1\r\nHost: localhost\r\n\r\n");

    EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 Bad Request\r\n")) << answer;
    EXPECT_TRUE(answer.contains(weft::format("\"detail\":\"{}\"", sentence))) << answer;
    EXPECT_FALSE(answer.contains("23456789")) << "nothing of what follows is answered: " << answer;
  }
  const std::string twice =
      answer_to(server->port(),
                head + "Content-Length: 5\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello");
  EXPECT_TRUE(twice.starts_with("HTTP/1.1 200 OK\r\n") && twice.ends_with("a::5")) << twice;
}

TEST_F(Net, RoutesSeeTheirParametersQueryAndBody) {
  const auto answer = client->send_now(post("/v1/echo/seven?q=x", std::string(500'000, 'b')));

  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "seven:x:500000");
}

TEST_F(Net, BodiesOverTheBoundAreRefusedWithAProblem) {
  const auto answer = client->send_now(post("/v1/echo/seven", std::string(1'000'001, 'b')));

  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(answer->status, 413);
  EXPECT_THAT(error_of(*answer).message, testing::HasSubstr("at most 1000000"));
}

TEST_F(Net, UnknownPathsAndMethodsAreProblems) {
  EXPECT_EQ(client->send_now(get("/v1/nowhere"))->status, 404);
  EXPECT_EQ(client->send_now(get("/v1/nowhere"))->headers.at("content-type"),
            "application/problem+json");
  const auto impossible = client->send_now(get("/v1/echo/x"));
  EXPECT_EQ(impossible->status, 405);
  EXPECT_EQ(impossible->headers.find("allow")->second, "POST");
}

TEST_F(Net, AWebSocketsPathSaysThatItIsOne) {
  const auto answer = client->send_now(get("/v1/echo-socket"));

  EXPECT_EQ(answer->status, 426);
  EXPECT_EQ(
      error_of(*answer).message,
      "/v1/echo-socket is a WebSocket: the request must have the header \"Upgrade: websocket\".");
}

TEST_F(Net, FilesAreSentInRanges) {
  const auto answer = client->send_now(get_range("/v1/blob", 2, 4));

  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->status, 206);
  EXPECT_EQ(answer->body, "3456");
  EXPECT_EQ(client->send_now(get("/v1/blob"))->body, "123456789");
}

TEST_F(Net, UploadsArriveInPartsAndAreRefusedBeforeTheirBody) {
  const auto taken =
      client->send_now(with_bearer(put("/v1/up/x", std::string(2'500'000, 'u')), "secret"));
  const auto refused = client->send_now(with_bearer(put("/v1/up/x", "abc"), "wrong"));
  const auto large =
      client->send_now(with_bearer(put("/v1/up/x", std::string(4'000'000, 'u')), "secret"));

  ASSERT_TRUE(taken.has_value()) << taken.error().message;
  EXPECT_EQ(taken->status, 201);
  EXPECT_EQ(taken->body, "2500000");
  EXPECT_EQ(client->send_now(get("/v1/up/x"))->body, "down");
  ASSERT_TRUE(refused.has_value()) << refused.error().message;
  EXPECT_EQ(refused->status, 401);
  ASSERT_TRUE(large.has_value()) << large.error().message;
  EXPECT_EQ(large->status, 413);
}

TEST_F(Net, ThePageIsServedIsolatedCompressedAndWithATag) {
  Request request = get("/");
  request.headers["accept-encoding"] = "gzip";

  const auto page = client->send_now(request);
  ASSERT_TRUE(page.has_value());
  request.headers["if-none-match"] = page->headers.at("etag");
  const auto again = client->send_now(request);

  EXPECT_EQ(page->status, 200);
  EXPECT_EQ(page->headers.at("cross-origin-opener-policy"), "same-origin");
  EXPECT_EQ(page->headers.at("cross-origin-embedder-policy"), "require-corp");
  EXPECT_EQ(page->headers.at("content-type"), "text/html; charset=utf-8");
  EXPECT_THAT(page->headers.at("content-security-policy"),
              testing::HasSubstr("'wasm-unsafe-eval'"));
  EXPECT_EQ(again->status, 304);
  EXPECT_THAT(client->send_now(get("/assets/a.js"))->headers.at("cache-control"),
              testing::HasSubstr("immutable"));
  EXPECT_EQ(client->send_now(get("/../blob"))->status, 403);
  EXPECT_EQ(client->send_now(get("/assets/..%2f..%2fblob"))->status, 403);
  EXPECT_EQ(client->send_now(get("/assets/b.js"))->status, 404);
}

TEST_F(Net, ExpensiveRoutesAreLimitedPerAddress) {
  const auto taken = client->send_now(get("/v1/costly"));
  EXPECT_EQ(taken->status, 200);
  // The bucket of this address in the headers of draft-ietf-httpapi-ratelimit-headers.
  EXPECT_THAT(taken->headers.at("ratelimit-policy"),
              testing::MatchesRegex("\"address\";q=[0-9]+;w=[0-9]+"));
  EXPECT_THAT(taken->headers.at("ratelimit"),
              testing::MatchesRegex("\"address\";r=[0-9]+;t=[0-9]+"));
  const auto refused = client->send_now(get("/v1/costly"));
  EXPECT_EQ(refused->status, 429);
  EXPECT_EQ(refused->headers.at("retry-after"), "1");
}

TEST_F(Net, ACertificateOfAnUnknownAuthorityIsNotTrusted) {
  auto wary = Client::create({.url = server->url()}).value();
  const auto answer = wary->send_now(get("/v1/blob"));
  ASSERT_FALSE(answer.has_value());
  EXPECT_THAT(answer.error().message, testing::HasSubstr("--ca-cert"));

  auto bold = Client::create({.url = server->url(), .tls = {.insecure = true}}).value();
  EXPECT_EQ(bold->send_now(get("/v1/blob"))->status, 200);
}

// Performs a handshake with the server, with at most this version of TLS.
bool handshake(std::uint16_t port, int version_max) {
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  SSL_CTX_set_max_proto_version(context, version_max);
  BIO* connection = BIO_new_ssl_connect(context);
  BIO_set_conn_hostname(connection, ("127.0.0.1:" + std::to_string(port)).c_str());
  const bool done = BIO_do_connect(connection) == 1 && BIO_do_handshake(connection) == 1;
  BIO_free_all(connection);
  SSL_CTX_free(context);
  return done;
}

TEST_F(Net, OnlyTls13IsSpoken) {
  EXPECT_TRUE(handshake(server->port(), TLS1_3_VERSION));
  EXPECT_FALSE(handshake(server->port(), TLS1_2_VERSION));
}

// A callback that posts itself in every turn, as a wait for a device does, does not delay answers.
TEST_F(Net, AThreadThatTakesEveryTurnKeepsNoOtherFromHearing) {
  std::atomic<bool> answered = false;
  std::atomic<std::uint64_t> turns = 0;
  std::promise<void> ended;
  std::function<void()> again = [&] {
    ++turns;
    if (answered) return ended.set_value();
    client->next_turn([&] { again(); });
  };
  client->post([&] { again(); });

  client->send(post("/v1/echo/a", "b"), [&](const Result<Response>& answer) {
    EXPECT_TRUE(answer.has_value());
    answered = true;
  });

  ASSERT_EQ(ended.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
  EXPECT_GT(turns, 1U);
}

TEST_F(Net, AnAddressWithoutAServerIsAnErrorThatNamesIt) {
  auto lonely = Client::create({.url = "http://127.0.0.1:9"}).value();

  const auto answer = lonely->send_now(get("/"));

  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, ErrorCode::unavailable);
  EXPECT_THAT(answer.error().message, testing::HasSubstr("127.0.0.1:9"));
}

// The messages that a socket received until it was closed.
struct Conversation {
  std::vector<std::string> texts;
  std::vector<std::size_t> binaries;
  Error why;
};

Conversation converse(Client& client, std::vector<std::string> texts,
                      std::vector<ByteVector> binaries) {
  auto ended = std::make_shared<std::promise<Conversation>>();
  auto talk = std::make_shared<Conversation>();
  auto opened = std::make_shared<std::promise<void>>();
  auto socket = client.connect(
      "/v1/echo-socket",
      {.open = [opened] { opened->set_value(); },
       .text = [talk](std::string text) { talk->texts.push_back(std::move(text)); },
       .binary = [talk](const ByteVector& bytes) { talk->binaries.push_back(bytes.size()); },
       .closed =
           [talk, ended](Error why) {
             talk->why = std::move(why);
             ended->set_value(*talk);
           }});
  opened->get_future().wait();
  for (auto& bytes : binaries) socket->send_binary(std::move(bytes));
  for (auto& text : texts) socket->send_text(std::move(text));
  return ended->get_future().get();
}

TEST_F(Net, SocketsCarryTextAndBinaryBothWaysUntilTheServerCloses) {
  const auto talk = converse(*client, {"one", "close"}, {ByteVector(90'000, 7)});

  EXPECT_THAT(talk.texts, testing::ElementsAre("hello", "one"));
  EXPECT_THAT(talk.binaries, testing::ElementsAre(90'000U));
}

TEST_F(Net, AMessageOverTheBoundIsAnsweredAndTheSocketClosed) {
  const auto talk = converse(*client, {std::string(100'001, 'x'), "never"}, {});

  EXPECT_THAT(talk.texts, testing::ElementsAre("hello", "too large: 100001"));
}

TEST_F(Net, AMessageFarOverTheBoundEndsTheSocket) {
  const auto talk = converse(*client, {}, {ByteVector(5'000'000, 1)});

  EXPECT_TRUE(talk.binaries.empty());
}

TEST_F(Net, ASocketWithoutAnAnswerIsClosedOnce) {
  auto lonely = Client::create({.url = "http://127.0.0.1:9"}).value();
  std::promise<Error> closed;

  auto socket = lonely->connect("/v1/echo-socket",
                                {.closed = [&](Error why) { closed.set_value(std::move(why)); }});

  EXPECT_EQ(closed.get_future().get().code, ErrorCode::unavailable);
}

TEST_F(Net, ASecondServerIsRefused) {
  EXPECT_FALSE(Server::create({.address = "127.0.0.1"}).has_value());
}

TEST_F(Net, APortThatIsTakenIsAnErrorThatNamesIt) {
  const auto second = Server::create({.address = "127.0.0.1", .port = server->port()});

  ASSERT_FALSE(second.has_value());
  EXPECT_THAT(second.error().message, testing::HasSubstr(std::to_string(server->port())));
}

// A user who installs the certificate in a browser must not thereby let its key certify every site.
TEST(Certificate, CannotSignOthers) {
  struct Rights {
    bool signs_others = false;
    std::uint32_t usage = 0;
  };
  const auto rights = [](const SelfSigned& how) {
    std::string pattern = (fs::temp_directory_path() / "weft-tls-XXXXXX").string();
    const fs::path folder = mkdtemp(pattern.data());
    const auto files = self_signed(folder, {"127.0.0.1"}, unix_now(), how).value();
    BIO* const in = BIO_new_file(files.certificate.c_str(), "r");
    X509* const certificate = PEM_read_bio_X509(in, nullptr, nullptr, nullptr);
    const Rights out{.signs_others = X509_check_ca(certificate) != 0,
                     .usage = X509_get_key_usage(certificate)};
    X509_free(certificate);
    BIO_free(in);
    fs::remove_all(folder);
    return out;
  };

  const Rights made = rights({});
  EXPECT_FALSE(made.signs_others);
  EXPECT_EQ(made.usage, static_cast<std::uint32_t>(KU_DIGITAL_SIGNATURE));
  const Rights open = rights({.signs_no_others = false});
  EXPECT_TRUE(open.signs_others) << "the attack";
  EXPECT_NE(open.usage & KU_KEY_CERT_SIGN, 0U);
}

TEST(Certificate, IsKeptWhileItCoversTheNamesAndMadeAnewOtherwise) {
  std::string pattern = (fs::temp_directory_path() / "weft-tls-XXXXXX").string();
  const fs::path folder = mkdtemp(pattern.data());
  const auto read = [&] {
    std::ifstream in(folder / "cert.pem");
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  ASSERT_TRUE(self_signed(folder, {"127.0.0.1"}, unix_now()).has_value());
  const auto first = read();

  ASSERT_TRUE(self_signed(folder, {"127.0.0.1"}, unix_now()).has_value());
  EXPECT_EQ(read(), first);
  ASSERT_TRUE(self_signed(folder, {"127.0.0.1", "10.1.2.3"}, unix_now()).has_value());
  EXPECT_NE(read(), first);
  EXPECT_TRUE(check_certificate({.certificate = folder / "cert.pem", .key = folder / "key.pem"})
                  .has_value());
  EXPECT_EQ(fs::status(folder / "key.pem").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace weft::net
