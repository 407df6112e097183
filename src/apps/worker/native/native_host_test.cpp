// Behaviour of a worker whose requests the coordinator refuses for now.
#include "apps/worker/native/native_host.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <future>
#include <optional>
#include <unistd.h>
#include <utility>

#include "common/base/format.h"
#include "common/crypto/sha256.h"
#include "platform/net/server.h"
#include "worker/tasks/blob_store.h"

namespace weft::worker {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view blob = "what is asked for";

// A coordinator that refuses a number of requests for a blob before it answers with the blob's
// bytes. All tests share one server, because Drogon allows only one in a process.
class NativeHostTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::filesystem::create_directories(scratch());
    server = net::Server::create({.scratch = scratch()}).value();
    server->route({.method = "GET",
                   .pattern = "/v1/blobs/{}",
                   .handle = [](const net::IncomingRequest&, const net::Respond& respond) {
                     ++asked;
                     if (refusals-- <= 0) return respond(net::text_reply(200, std::string(blob)));
                     net::Reply reply = net::problem(
                         {ErrorCode::resource_exhausted, "This address asks too much."}, status);
                     reply.headers["retry-after"] = "0";
                     respond(std::move(reply));
                   }});
    ASSERT_TRUE(server->start().has_value());
  }
  static void TearDownTestSuite() {
    server->stop();
    server.reset();
    std::filesystem::remove_all(scratch());
  }
  static std::filesystem::path scratch() {
    return std::filesystem::temp_directory_path() / weft::format("weft-native-host-{}", getpid());
  }

  // Returns the result for a blob that is refused once.
  static Result<SharedBytes> fetch_refused_once(int refusal) {
    asked = 0;
    refusals = 1;
    status = refusal;
    const auto client = net::Client::create({.url = server->url()}).value();
    std::optional<NativeHost> host(*client);
    std::optional<BlobStore> blobs(std::in_place, *host, BlobStore::Options{});
    std::promise<Result<SharedBytes>> come;
    client->post([&] {
      blobs->get(crypto::sha256(as_bytes(blob)), 100,
                 [&](Result<SharedBytes> result) { come.set_value(std::move(result)); });
    });
    auto fetched = come.get_future().get();
    std::promise<void> gone;  // Set once the client's thread has destroyed both.
    client->post([&] {
      blobs.reset();
      host.reset();
      gone.set_value();
    });
    gone.get_future().get();
    return fetched;
  }

  static inline std::unique_ptr<net::Server> server;
  static inline std::atomic<int> refusals = 0, status = 0, asked = 0;
};

// A worker loses no task if the rate of its address is used up, by others behind it or in an
// attack.
TEST_F(NativeHostTest, ABlobThatIsRefusedForNowIsAskedForAgain) {
  for (const int refusal : {429, 503}) {
    const auto fetched = fetch_refused_once(refusal);

    ASSERT_TRUE(fetched.has_value()) << fetched.error().message;
    EXPECT_EQ(as_text(**fetched), blob);
    EXPECT_EQ(asked, 2);
  }
}

TEST_F(NativeHostTest, ABlobThatIsRefusedForGoodIsNot) {
  const auto fetched = fetch_refused_once(413);

  ASSERT_FALSE(fetched.has_value());
  EXPECT_EQ(fetched.error().code, ErrorCode::resource_exhausted);
  EXPECT_EQ(asked, 1);
}

}  // namespace
}  // namespace weft::worker
