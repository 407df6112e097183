#include "apps/bench/coordinator/floor.h"

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <utility>

#include "common/base/guarded.h"
#include "common/crypto/keys.h"
#include "common/crypto/sha256.h"
#include "common/proof/receipt.h"
#include "common/protocol/codec.h"
#include "common/protocol/result_frame.h"
#include "common/protocol/signing.h"
#include "platform/net/server.h"

namespace weft::coordinator::bench {

namespace {

// A file whose bytes are synced before clients are told of them. While one sync runs, new bytes are
// collected, and the next sync covers all of them.
class SyncedFile {
 public:
  explicit SyncedFile(int file) : file_(file), thread_([this] { run(); }) {}
  SyncedFile(const SyncedFile&) = delete;
  ~SyncedFile() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    more_.notify_one();
    thread_.join();
    ::close(file_);
  }

  void append(std::string_view bytes, std::function<void()> done) {
    {
      const std::lock_guard lock(mutex_);
      bytes_ += bytes;
      waiting_.push_back(std::move(done));
    }
    more_.notify_one();
  }

 private:
  void run() {
    for (;;) {
      std::string bytes;
      std::vector<std::function<void()>> ready;
      {
        std::unique_lock lock(mutex_);
        more_.wait(lock, [&] { return ending_ || !waiting_.empty(); });
        if (waiting_.empty()) return;
        bytes.swap(bytes_);
        ready.swap(waiting_);
      }
      // If the disk fails, clients get no reply and time out, which the crowd reports.
      if (::write(file_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()) ||
          ::fdatasync(file_) != 0)
        return;
      for (const auto& done : ready) done();
    }
  }

  const int file_;
  std::mutex mutex_;
  std::condition_variable more_;
  std::string bytes_;
  std::vector<std::function<void()>> waiting_;
  bool ending_ = false;
  std::thread thread_;
};

struct Worker {
  std::shared_ptr<net::Peer> peer;
  std::uint32_t texts = 0;  // Texts received: a hello, a proof, receipts.
  TaskId task;
  PublicKey key;
};

struct Queue {
  std::map<std::uint64_t, std::shared_ptr<Worker>> workers;
  std::deque<std::shared_ptr<Worker>> idle;
  std::deque<JobId> jobs;
  std::uint64_t jobs_ever = 0;

  void match() {
    while (!idle.empty() && !jobs.empty()) {
      Worker& worker = *idle.front();
      worker.task = {.job = jobs.front(), .index = 0};
      protocol::Lease lease;
      lease.job = jobs.front();
      lease.tasks = {{.index = 0, .attempt = 1, .first = 0, .count = 1}};
      worker.peer->send_text(protocol::encode(protocol::CoordinatorMessage(std::move(lease))));
      idle.pop_front();
      jobs.pop_front();
    }
  }
};

class FloorServer final : public Floor {
 public:
  FloorServer(std::unique_ptr<net::Server> server, int file, crypto::KeyPair key)
      : key_(std::move(key)),
        file_(std::make_unique<SyncedFile>(file)),
        server_(std::move(server)) {}
  ~FloorServer() override {
    server_->stop();
    file_.reset();
  }

  Result<> listen() {
    server_->route({.method = "POST",
                    .pattern = "/v1/jobs",
                    .handle = [this](const net::IncomingRequest& request, net::Respond respond) {
                      submit(request, std::move(respond));
                    }});
    // Redeeming an invitation has no effect, because the floor has no accounts.
    server_->route({.method = "POST",
                    .pattern = "/v1/owner/grant",
                    .handle = [](const net::IncomingRequest&, net::Respond respond) {
                      respond(net::json_reply(200, "{}"));
                    }});
    net::SocketRoute workers;
    workers.path = "/v1/worker";
    workers.opened = [this](std::shared_ptr<net::Peer> peer) {
      queue_.with([&](Queue& queue) {
        queue.workers[peer->id()] =
            std::make_shared<Worker>(Worker{.peer = peer, .task = {}, .key = {}});
      });
    };
    workers.text = [this](const std::shared_ptr<net::Peer>& peer, const std::string& text) {
      hear(*peer, text);
    };
    workers.binary = [this](const std::shared_ptr<net::Peer>& peer, const std::string& bytes) {
      result(*peer, bytes);
    };
    workers.oversized = [](const std::shared_ptr<net::Peer>&, std::size_t) {};
    workers.closed = [this](const std::shared_ptr<net::Peer>& peer) {
      queue_.with([&](Queue& queue) {
        const auto gone = queue.workers.extract(peer->id());
        if (gone) std::erase(queue.idle, gone.mapped());
      });
    };
    server_->socket(std::move(workers));
    return server_->start();
  }
  [[nodiscard]] std::uint16_t port() const override { return server_->port(); }
  void check_signatures(bool checks) override { checks_ = checks; }

 private:
  bool is_signed(const net::IncomingRequest& request) const {
    const auto client = PublicKey::parse(request.header("weft-client"));
    const auto nonce = from_hex(request.header("weft-nonce"));
    const auto signature = Signature::parse(request.header("weft-signature"));
    const std::string time(request.header("weft-time"));
    return client && nonce && signature &&
           crypto::verify_now(
               *client,
               protocol::request_digest({.coordinator = key_.public_key(),
                                         .method = request.method,
                                         .target = {.path = request.path, .query = request.query},
                                         .body = crypto::sha256(as_bytes(request.body)),
                                         .time = std::strtoll(time.c_str(), nullptr, 10),
                                         .nonce = *nonce}),
               *signature);
  }

  // Takes a submission. A refusal ends the measurement, because the crowd reports it.
  void submit(const net::IncomingRequest& request, net::Respond respond) {
    if (checks_ && !is_signed(request)) return respond(net::json_reply(401, "{}"));
    const std::string_view body = request.body;
    JobId job;
    queue_.with([&](Queue& queue) {
      ++queue.jobs_ever;
      std::memcpy(job.bytes.data(), &queue.jobs_ever, sizeof queue.jobs_ever);
      queue.jobs.push_back(job);
      queue.match();
    });
    file_->append(body, [job, respond = std::move(respond)] {
      respond(net::json_reply(202, R"({"id":")" + job.text() + R"("})"));
    });
  }

  void hear(net::Peer& peer, std::string_view text) {
    const auto worker = queue_.with([&](Queue& queue) { return queue.workers.at(peer.id()); });
    if (worker->texts < 2) return greet(peer, text);
    if (!checks_) return;
    const auto message = protocol::decode_worker_message(text);
    const auto* const receipt = message ? std::get_if<protocol::Receipt>(&*message) : nullptr;
    if (receipt == nullptr) return peer.close("The worker sends a message other than a receipt.");
    std::vector<proof::Claim> claims;
    for (const auto& item : receipt->items)
      claims.push_back({.task = item.task, .attempt = item.attempt, .root = item.root});
    if (!crypto::verify_now(worker->key,
                            proof::receipt_digest({.genesis = {},
                                                   .program = {},
                                                   .coordinator = key_.public_key(),
                                                   .session = {},
                                                   .worker = {}},
                                                  claims)
                                .span(),
                            receipt->signature))
      return peer.close("The receipt's signature is wrong.");
    for (const proof::Claim& claim : claims) accept(worker, claim.task, "");
  }

  void greet(net::Peer& peer, std::string_view text) {
    queue_.with([&](Queue& queue) {
      const auto& worker = queue.workers.at(peer.id());
      if (++worker->texts == 1) {
        const auto message = protocol::decode_worker_message(text);
        if (const auto* hello = message ? std::get_if<protocol::Hello>(&*message) : nullptr)
          worker->key = hello->key;
        peer.send_text(protocol::encode(protocol::CoordinatorMessage(
            protocol::Challenge{.nonce = {}, .coordinator = key_.public_key()})));
      } else if (worker->texts == 2) {
        peer.send_text(
            protocol::encode(protocol::CoordinatorMessage(protocol::Welcome{.session = "floor"})));
        queue.idle.push_back(worker);
        queue.match();
      }
    });
  }

  void result(net::Peer& peer, std::string_view bytes) {
    std::shared_ptr<Worker> worker;
    TaskId task;
    queue_.with([&](Queue& queue) {
      worker = queue.workers.at(peer.id());
      task = worker->task;
      queue.idle.push_back(worker);
      queue.match();
    });
    // If receipts are verified, a result is written only when its receipt has arrived, as in a
    // coordinator.
    if (!checks_) accept(worker, task, bytes);
  }

  void accept(const std::shared_ptr<Worker>& worker, const TaskId& task, std::string_view bytes) {
    file_->append(bytes, [worker, task] {
      worker->peer->send_text(protocol::encode(protocol::CoordinatorMessage(protocol::Verdict{
          .task = task, .attempt = 1, .accepted = true, .paid = 0, .balance = 0})));
    });
  }

  const crypto::KeyPair key_;
  std::atomic<bool> checks_ = false;
  Guarded<Queue> queue_;
  std::unique_ptr<SyncedFile> file_;
  std::unique_ptr<net::Server> server_;
};

}  // namespace

Result<std::unique_ptr<Floor>> Floor::start(const std::filesystem::path& folder) {
  WEFT_ASSIGN(auto key, crypto::KeyPair::generate());
  WEFT_ASSIGN(auto server, net::Server::create({.scratch = folder / "floor",
                                                .limits = {.connections_per_address = 0},
                                                .rate_limit = std::nullopt}));
  std::error_code error;
  std::filesystem::create_directories(folder / "floor", error);
  const auto path = folder / "floor" / "log";
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0)
    return fail(ErrorCode::unavailable, "The file {} cannot be made: {}.", path.string(),
                std::strerror(errno));
  auto floor = std::make_unique<FloorServer>(std::move(server), file, std::move(key));
  WEFT_OK(floor->listen());
  return floor;
}

}  // namespace weft::coordinator::bench
