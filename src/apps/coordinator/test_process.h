// A coordinator as a process of its own (this test program, started again), scripted workers over real sockets, and what a
// client does. Used by the tests whose subject is the process: crashes, and the interface as strangers meet it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <signal.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "apps/coordinator/coordinator.h"
#include "apps/coordinator/test_work.h"
#include "common/base/log.h"
#include "common/protocol/api.h"
#include "common/protocol/codec.h"
#include "common/protocol/signing.h"
#include "service/net/client.h"

namespace weft::coordinator {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
namespace api = protocol::api;

// What the test program does when it is started as a coordinator: --coordinator PORT DATA.
inline int serve_for_test(const char* port, const char* data) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // Does not outlive its test.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  set_log_level(LogLevel::error);
  Options options{.port = static_cast<std::uint16_t>(std::atoi(port)), .data = data, .rate_limit = 0};
  if (const char* grant = std::getenv("WEFT_TEST_GRANT")) options.grant = std::atoll(grant);
  auto coordinator = Coordinator::start(options);
  if (!coordinator) {
    log_error("{}", coordinator.error().message);
    return 1;
  }
  int signal = 0;
  sigwait(&signals, &signal);
  (*coordinator)->stop();
  return 0;
}

inline std::uint16_t free_port() {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(bind(descriptor, reinterpret_cast<const sockaddr*>(&address), size), 0);
  EXPECT_EQ(getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size), 0);
  close(descriptor);
  return ntohs(address.sin_port);
}

class Process {
 public:
  Process(std::uint16_t port, fs::path data) : port_(std::to_string(port)), data_(std::move(data)) { start(); }
  ~Process() { kill(); }

  void start() {
    const std::string self = fs::read_symlink("/proc/self/exe").string();
    pid_ = fork();
    if (pid_ == 0) {
      execl(self.c_str(), self.c_str(), "--coordinator", port_.c_str(), data_.c_str(), nullptr);
      _exit(127);
    }
  }
  // Its exit status; -1 where a signal ended it.
  int stop() {
    ::kill(pid_, SIGTERM);
    int status = 0;
    waitpid(std::exchange(pid_, 0), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + port_; }

 private:
  const std::string port_;
  const fs::path data_;
  pid_t pid_ = 0;
};

// A worker over the network that comes back after every broken connection, shows what it holds, and hands it in again.
// Everything runs on its client's thread.
class ScriptedWorker {
 public:
  ScriptedWorker(const std::string& url, Behaviour behaviour, std::uint32_t seed)
      : key_(crypto::KeyPair::generate().value()),
        behaviour_(behaviour),
        random_(seed),
        client_(net::Client::create({.url = url, .connections = 1}).value()) {
    client_->post([this] { connect(); });
  }

  [[nodiscard]] std::string account() const { return "worker:" + key_.public_key().text(); }
  [[nodiscard]] std::size_t errors() const { return errors_; }
  [[nodiscard]] std::size_t refused() const { return refused_; }

 private:
  struct Held {
    JobId job;
    protocol::LeasedTask task;
  };

  void connect() {
    socket_ = client_->connect(
        "/v1/worker", {.open =
                           [this] {
                             protocol::Hello hello;
                             hello.versions = {protocol::version};
                             hello.key = key_.public_key();
                             hello.software = "test";
                             hello.slots = 4;
                             hello.capabilities.memory_bytes = std::uint64_t{1} << 30;
                             say(hello);
                           },
                       .text = [this](const std::string& text) { hear(text); },
                       .closed = [this](const Error&) { client_->after(std::chrono::milliseconds(20 + random_() % 80), [this] { connect(); }); }});
  }
  void say(const protocol::WorkerMessage& message) { socket_->send_text(protocol::encode(message)); }

  void hear(const std::string& text) {
    const auto message = protocol::decode_coordinator_message(text);
    ASSERT_TRUE(message.has_value()) << message.error().message;
    if (const auto* asked = std::get_if<protocol::Challenge>(&*message)) {
      challenge_ = *asked;
      say(protocol::Prove{.signature = key_.sign_now(protocol::hello_digest(asked->coordinator, asked->nonce, key_.public_key()))});
    } else if (std::holds_alternative<protocol::Welcome>(*message)) {
      protocol::Resume resume;
      for (const auto& [id, held] : held_) resume.held.push_back({.task = id.first, .attempt = id.second, .proof = held.task.proof});
      if (!resume.held.empty()) say(resume);
      for (const auto& [id, held] : held_) deliver(held);
    } else if (const auto* lease = std::get_if<protocol::Lease>(&*message)) {
      for (const auto& task : lease->tasks) {
        const Held held{.job = lease->job, .task = task};
        held_.emplace(std::pair(TaskId{.job = lease->job, .index = task.index}, task.attempt), held);
        client_->after(std::chrono::milliseconds(1 + random_() % 15), [this, held] { deliver(held); });
      }
    } else if (const auto* verdict = std::get_if<protocol::Verdict>(&*message)) {
      if (!verdict->accepted) ++refused_;
      held_.erase({verdict->task, verdict->attempt});
    } else if (const auto* cancel = std::get_if<protocol::Cancel>(&*message)) {
      for (const auto& task : cancel->tasks) held_.erase({task.task, task.attempt});
    } else if (std::holds_alternative<protocol::ErrorMessage>(*message)) {
      ++errors_;
    }
  }
  void deliver(const Held& held) {
    if (!held_.contains({TaskId{.job = held.job, .index = held.task.index}, held.task.attempt})) return;
    const auto handed = hand_in(behaviour_, key_, challenge_, held.job, held.task);
    const int times = behaviour_.doubled ? 2 : 1;
    for (int i = 0; i < times; ++i) {
      socket_->send_binary(ByteVector(handed.frame.begin(), handed.frame.end()));
      say(handed.receipt);
    }
  }

  const crypto::KeyPair key_;
  const Behaviour behaviour_;
  std::minstd_rand random_;
  protocol::Challenge challenge_;
  std::map<std::pair<TaskId, std::uint32_t>, Held> held_;
  std::shared_ptr<net::Socket> socket_;
  std::atomic<std::size_t> errors_ = 0;
  std::atomic<std::size_t> refused_ = 0;
  std::unique_ptr<net::Client> client_;  // Last: its thread ends before what it uses goes.
};

class ProcessTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "weft-process-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    process_ = std::make_unique<Process>(free_port(), folder_);
    client_ = net::Client::create({.url = process_->url()}).value();
    wait_until_ready();
  }
  void TearDown() override {
    client_.reset();
    process_.reset();
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  // Repeats until there is an answer that is none of "not there yet".
  net::Response ask(const net::Request& request, std::chrono::seconds patience = 60s) {
    const Instant give_up = now() + patience;
    for (;;) {
      auto answer = client_->send_now(request);
      if (answer && answer->status != 503) return *answer;
      if (now() > give_up) {
        ADD_FAILURE() << request.path << ": " << (answer ? answer->body : answer.error().message);
        return {};
      }
      std::this_thread::sleep_for(10ms);
    }
  }
  void wait_until_ready() { EXPECT_EQ(ask(net::get("/readyz")).status, 200); }
  template <class View>
  View view(const std::string& path) {
    const auto answer = ask(net::get(path));
    EXPECT_EQ(answer.status, 200) << answer.body;
    return api::from_json<View>(answer.body).value();
  }

  [[nodiscard]] net::Request signed_by(const crypto::KeyPair& wallet, net::Request request, const Hash& digest, std::uint64_t nonce = 1,
                                       ByteVector (*digest_of)(const Hash&, ByteSpan) = protocol::submit_digest) const {
    store::SubmitNonce bytes{};
    std::memcpy(bytes.data(), &nonce, sizeof nonce);
    request.headers["weft-client"] = wallet.public_key().text();
    request.headers["weft-nonce"] = to_hex(bytes);
    request.headers["weft-signature"] = wallet.sign_now(digest_of(digest, bytes)).text();
    return request;
  }
  // As a client does: the same nonce until it is answered.
  net::Response submit(const std::string& manifest, std::uint64_t nonce) {
    return ask(signed_by(wallet_, net::post("/v1/jobs", manifest), crypto::sha256(as_bytes(manifest)), nonce));
  }
  std::string submitted(const std::string& manifest, std::uint64_t nonce) {
    const auto answer = submit(manifest, nonce);
    EXPECT_EQ(answer.status, 202) << answer.body;
    return answer.status == 202 ? api::from_json<api::Submitted>(answer.body)->id : "";
  }
  bool finished_already(const std::string& id) { return view<api::Job>("/v1/jobs/" + id).state != "running"; }
  api::Job finished(const std::string& id) {
    const Instant give_up = now() + 120s;
    for (;;) {
      auto job = view<api::Job>("/v1/jobs/" + id);
      if (job.state != "running" || now() > give_up) return job;
      std::this_thread::sleep_for(20ms);
    }
  }

  // Done, with the right bytes, and each task paid once out of its escrow.
  void expect_settled(const std::string& id, std::uint32_t tasks) {
    const auto job = finished(id);
    ASSERT_EQ(job.state, "done") << id << ": " << job.reason;
    EXPECT_EQ(job.accepted, tasks);
    ByteVector expected;
    for (std::uint32_t i = 0; i < tasks * 4; ++i) append_le(expected, i);
    EXPECT_EQ(ask(net::get("/v1/jobs/" + id + "/outputs/0")).body, as_text(expected));
    const auto escrow = view<api::LedgerAccount>("/v1/ledger?account=escrow:" + id);
    EXPECT_EQ(escrow.amount, 0);
    std::multiset<std::string> paid;
    for (const auto& entry : escrow.entries) {
      if (entry.key.starts_with("pay:")) paid.insert(entry.key);
    }
    EXPECT_EQ(paid.size(), tasks);
    EXPECT_EQ(std::set<std::string>(paid.begin(), paid.end()).size(), tasks) << "no task is paid twice";
  }

  fs::path folder_;
  std::unique_ptr<Process> process_;
  std::unique_ptr<net::Client> client_;
  const crypto::KeyPair wallet_ = crypto::KeyPair::generate().value();
};

}  // namespace weft::coordinator
