// Tests of the sockets of workers that serve models: which connections reach the desk, and what a
// worker may read after it was told to load a model.
#include "apps/coordinator/http/serving_sockets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/crypto/keys.h"
#include "decisions/inference/test_desk.h"

namespace weft::coordinator {
namespace {

namespace wire = protocol::serving;
using testing::ElementsAre;
using testing::IsEmpty;

class FakePeer final : public net::Peer {
 public:
  explicit FakePeer(std::uint64_t id) : id_(id) {}
  void send_text(std::string text) override { sent.push_back(std::move(text)); }
  void send_binary(std::string bytes) override { sent.push_back(std::move(bytes)); }
  void close(std::string reason) override { closed.push_back(std::move(reason)); }
  const std::string& host() const override { return host_; }
  std::uint64_t id() const override { return id_; }
  const std::string& address() const override { return address_; }
  void admit() override { ++admitted; }
  void recognise() override { ++recognised; }

  std::vector<std::string> sent, closed;
  int admitted = 0, recognised = 0;

 private:
  std::uint64_t id_;
  std::string host_ = "localhost", address_ = "127.0.0.1";
};

struct ServingSocketsTest : testing::Test {
  std::shared_ptr<FakePeer> connect(std::uint64_t id) {
    auto peer = std::make_shared<FakePeer>(id);
    route.opened(peer);
    return peer;
  }
  void offer(const std::shared_ptr<FakePeer>& peer, const std::string& token) {
    route.text(peer, wire::encode(wire::ServingWorkerMessage(
                         wire::Offer{.token = token, .memory_bytes = 1 << 20, .gb_per_s = 1})));
  }
  // Runs all posted events and ends the thread.
  void run() {
    thread.start(network.desk,
                 {.clients_wait = [] { return false; }, .look = [](Instant) {}, .end = [] {}});
    thread.stop();
  }

  jobs::Book book;
  inference::Network network;
  InferenceThread thread;
  ServingSockets sockets{thread, book};
  net::SocketRoute route = sockets.route();
  PublicKey key = crypto::KeyPair::generate().value().public_key();
};

TEST_F(ServingSocketsTest, TellTheDeskOfAWorkerThatShowsItsToken) {
  book.add_token("good", key);
  const auto worker = connect(1), stranger = connect(2);
  offer(worker, "good");
  offer(stranger, "bad");
  run();

  EXPECT_EQ(network.desk.workers().size(), 1U);
  EXPECT_THAT(worker->closed, IsEmpty());
  EXPECT_EQ(worker->admitted, 1);
  EXPECT_EQ(worker->recognised, 0) << "no operator invited it";
  EXPECT_THAT(stranger->closed, ElementsAre("The token belongs to no connected worker."));
  EXPECT_EQ(stranger->admitted, 0);
}

TEST_F(ServingSocketsTest, RecogniseAWorkerThatTheOperatorKnows) {
  book.add_token("good", key);
  book.set_known(key, true);
  const auto worker = connect(1);
  offer(worker, "good");
  run();

  EXPECT_EQ(worker->recognised, 1);
}

TEST_F(ServingSocketsTest, CloseAConnectionThatOffersTwiceOrSendsNonsense) {
  book.add_token("good", key);
  const auto twice = connect(1), nonsense = connect(2);
  offer(twice, "good");
  offer(twice, "good");
  route.text(nonsense, "{}");
  run();

  EXPECT_THAT(twice->closed,
              ElementsAre("The worker has already sent its offer on this connection."));
  EXPECT_EQ(nonsense->closed.size(), 1U);
}

TEST_F(ServingSocketsTest, ForgetAConnectionThatWasClosed) {
  book.add_token("good", key);
  const auto worker = connect(1);
  offer(worker, "good");
  route.closed(worker);
  run();

  EXPECT_THAT(network.desk.workers(), IsEmpty());
  sockets.close(1, "late");
  sockets.send(1, wire::Unload{});
  EXPECT_THAT(worker->closed, IsEmpty());
  EXPECT_THAT(worker->sent, IsEmpty());
}

TEST_F(ServingSocketsTest, LetAWorkerReadOnlyTheModelThatItIsToLoad) {
  book.add_token("good", key);
  const auto worker = connect(1);
  offer(worker, "good");
  run();
  const Hash model{{1}}, chunks{{2}}, other{{3}};
  EXPECT_FALSE(book.worker_blobs().may_read(key, model));

  sockets.send(1, wire::Load{.model = model, .chunks = chunks});

  EXPECT_EQ(worker->sent.size(), 1U);
  EXPECT_TRUE(book.worker_blobs().may_read(key, model));
  EXPECT_TRUE(book.worker_blobs().may_read(key, chunks));
  EXPECT_FALSE(book.worker_blobs().may_read(key, other));
}

}  // namespace
}  // namespace weft::coordinator
