// A coordinator as a separate process (this test program, started again), scripted workers over
// real sockets, and a test client. For tests of the process itself: crashes, and the interface as
// strangers use it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <future>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
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
#include "apps/coordinator/test_runner.h"
#include "common/base/guarded.h"
#include "common/base/log.h"
#include "common/crypto/ordered_id.h"
#include "common/crypto/wallet.h"
#include "common/protocol/api.h"
#include "common/protocol/codec.h"
#include "common/protocol/digests.h"
#include "common/protocol/part_claim.h"
#include "common/protocol/signing.h"
#include "decisions/jobs/test_work.h"
#include "platform/net/client.h"

namespace weft::coordinator {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
namespace api = protocol::api;

// The test program's mode --coordinator PORT DATA, which runs a coordinator.
inline int serve_for_test(const char* port, const char* data) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // The kernel kills it with its test.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  set_log_level(LogLevel::error);
  Options options{
      .port = static_cast<std::uint16_t>(std::atoi(port)), .data = data, .rate_limit = 0};
  if (const char* grant = std::getenv("WEFT_TEST_GRANT")) options.grant = std::atoll(grant);
  if (std::getenv("WEFT_TEST_KEYS") != nullptr) options.require_keys = true;
  if (std::getenv("WEFT_TEST_SWEEPS") != nullptr) options.blob_ends = {.unused = 1s, .period = 1s};
  if (const char* bytes = std::getenv("WEFT_TEST_BLOBS_BYTES_MAX"))
    options.blobs_bytes_max = std::strtoull(bytes, nullptr, 10);
  if (const char* share = std::getenv("WEFT_TEST_UPLOAD_SHARE"))
    options.upload_share = std::atof(share);
  options.submission.room_set_aside = std::getenv("WEFT_TEST_NO_ROOM_ASIDE") == nullptr;
  options.submission.room.for_known = std::getenv("WEFT_TEST_NO_ROOM_FOR_KNOWN") == nullptr;
  // WEFT_TEST_NETWORK_ROOM: workers of one network may use all of a job's room and of the store's.
  if (std::getenv("WEFT_TEST_NETWORK_ROOM") != nullptr) {
    options.submission.room.of_network = 1;
    options.stranger_room = {.network = 1, .strangers = 1};
  }
  options.uploads_by_lease = std::getenv("WEFT_TEST_ANY_UPLOAD") == nullptr;
  options.reads_by_lease = std::getenv("WEFT_TEST_ANY_READ") == nullptr;
  options.signs_parts = std::getenv("WEFT_TEST_ANY_PART") == nullptr;
  options.roots_when_decided = std::getenv("WEFT_TEST_UNDECIDED_ROOTS") == nullptr;
  options.folder_is_private = std::getenv("WEFT_TEST_OPEN_FOLDER") == nullptr;
  // WEFT_TEST_DATA_BYTES: the size of one part of an owner's data export; 0 sends all data at once.
  if (const char* bytes = std::getenv("WEFT_TEST_DATA_BYTES"))
    options.owner_data_bytes_max = std::strtoull(bytes, nullptr, 10);
  // WEFT_TEST_CONNECTIONS: the number of connections in all, which may all come from one address
  // and be slow. WEFT_TEST_KNOWN_PERCENT: the share of connections reserved for known peers; with 0
  // the earliest connections stay.
  if (const char* most = std::getenv("WEFT_TEST_CONNECTIONS")) {
    options.limits.connections_max = std::strtoull(most, nullptr, 10);
    options.limits.connections_per_address = 0;
    options.limits.head_max = {};
  }
  if (const char* percent = std::getenv("WEFT_TEST_KNOWN_PERCENT")) {
    options.limits.known_share = std::strtod(percent, nullptr) / 100;
    options.limits.largest_gives_way = options.limits.known_share > 0;
  }
  // WEFT_TEST_INVITATIONS: clients get no grant without an invitation.
  options.core.grants_need_invitation = std::getenv("WEFT_TEST_INVITATIONS") != nullptr;
  // WEFT_TEST_HEADS: quorums count workers regardless of their levels.
  options.core.count_levels(std::getenv("WEFT_TEST_HEADS") == nullptr);
  static constexpr bool never = false;
  static constexpr auto steady = CountRunner::Unsteady::no;
  const PartRunnerFactory runner = [] { return std::make_unique<CountRunner>(never, steady); };
  auto coordinator = Coordinator::start(options, {}, runner);
  if (!coordinator) {
    log_error("{}", coordinator.error().message);
    return 1;
  }
  int signal = 0;
  sigwait(&signals, &signal);
  (*coordinator)->stop();
  return 0;
}

// While an object of this class exists, newly started coordinators ignore the levels of workers.
struct CountingHeads {
  CountingHeads() { setenv("WEFT_TEST_HEADS", "1", 1); }
  CountingHeads(const CountingHeads&) = delete;
  ~CountingHeads() { unsetenv("WEFT_TEST_HEADS"); }
};

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
  Process(std::uint16_t port, fs::path data) : port_(std::to_string(port)), data_(std::move(data)) {
    start();
  }
  ~Process() { kill(); }

  void start() {
    const std::string self = fs::read_symlink("/proc/self/exe").string();
    pid_ = fork();
    if (pid_ == 0) {
      execl(self.c_str(), self.c_str(), "--coordinator", port_.c_str(), data_.c_str(), nullptr);
      _exit(127);
    }
  }
  // Ends the coordinator. Returns its exit status, or -1 if a signal ended it.
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

// A network worker that reconnects after every lost connection, reports the leases that it holds,
// and delivers their results again. All its code runs on its client's thread.
class ScriptedWorker {
 public:
  ScriptedWorker(const std::string& url, jobs::Behaviour behaviour, std::uint32_t seed,
                 crypto::KeyPair key = crypto::KeyPair::generate().value(), std::uint32_t slots = 4,
                 bool invited = true)
      : key_(std::move(key)),
        behaviour_(std::move(behaviour)),
        slots_(slots),
        invited_(invited),
        random_(seed),
        client_(net::Client::create({.url = url, .connections = 1}).value()) {
    client_->post([this] { connect(); });
  }

  [[nodiscard]] std::string account() const { return "granted:" + key_.public_key().text(); }
  [[nodiscard]] std::string key() const { return key_.public_key().text(); }
  [[nodiscard]] std::size_t errors() const { return errors_; }
  // Uploads a blob that belongs to none of the worker's leases. Returns the HTTP status.
  int put_without_a_lease(const ByteVector& bytes, const std::string& range = "") {
    std::promise<int> status;
    client_->post([&] {
      auto request = net::with_bearer(
          net::put("/v1/blobs/" + crypto::sha256(bytes).text(), std::string(as_text(bytes))),
          blob_token_);
      if (!range.empty()) request.headers["content-range"] = range;
      client_->send(std::move(request), [&](const Result<net::Response>& answer) {
        status.set_value(answer ? answer->status : 0);
      });
    });
    return status.get_future().get();
  }
  // Requests a blob as this worker. Returns the HTTP status.
  int get_blob(const Hash& blob) {
    std::promise<int> status;
    client_->post([&] {
      client_->send(net::with_bearer(net::get("/v1/blobs/" + blob.text()), blob_token_),
                    [&](const Result<net::Response>& answer) {
                      status.set_value(answer ? answer->status : 0);
                    });
    });
    return status.get_future().get();
  }
  // Hashes of the manifests in the worker's leases.
  [[nodiscard]] std::vector<Hash> manifests() const {
    return manifests_.with([](const auto& hashes) { return hashes; });
  }
  [[nodiscard]] std::size_t refused() const { return refused_; }
  [[nodiscard]] bool joined() const { return joined_; }
  [[nodiscard]] std::size_t leased() const { return leased_; }  // Number of leased tasks.
  // The checkpoints from which the worker's leases resume.
  [[nodiscard]] std::vector<Hash> resumed() const {
    return resumed_.with([](const auto& states) { return states; });
  }
  // Uploads a checkpoint (40 of 100 parts) of a task that the worker holds and does not answer.
  void keep_state(const TaskId& task) {
    client_->post([this, task] {
      for (const auto& [id, held] : held_) {
        if (id.first == task) return keep_state_of(held);
      }
    });
  }
  // A checkpoint with only the fields that the coordinator reads.
  [[nodiscard]] static ByteVector state_of(const TaskId& task) {
    ByteVector bytes;
    append(bytes, as_bytes(std::string_view("weftckp1")));
    append(bytes, task.job.span());
    append_le(bytes, task.index);
    append(bytes, as_bytes(std::string_view("forty of a hundred parts")));
    return bytes;
  }

 private:
  struct Held {
    JobId job;
    protocol::LeasedTask task;
  };

  void connect() {
    socket_ = client_->connect("/v1/worker",
                               {.open =
                                    [this] {
                                      protocol::Hello hello;
                                      hello.versions = {protocol::version};
                                      hello.key = key_.public_key();
                                      hello.software = "test";
                                      hello.slots = slots_;
                                      hello.capabilities.memory_bytes = std::uint64_t{1} << 30;
                                      say(hello);
                                    },
                                .text = [this](const std::string& text) { hear(text); },
                                .closed =
                                    [this](const Error&) {
                                      client_->after(std::chrono::milliseconds(20 + random_() % 80),
                                                     [this] { connect(); });
                                    }});
  }
  void say(const protocol::WorkerMessage& message) {
    socket_->send_text(protocol::encode(message));
  }

  void hear(const std::string& text) {
    const auto message = protocol::decode_coordinator_message(text);
    ASSERT_TRUE(message.has_value()) << message.error().message;
    if (const auto* asked = std::get_if<protocol::Challenge>(&*message)) {
      challenge_ = *asked;
      std::ifstream invite(invited_ ? asked->invite_file : std::string());
      say(protocol::Prove{.signature = key_.sign_now(protocol::hello_digest(
                              asked->coordinator, asked->nonce, key_.public_key())),
                          .invite = std::string(std::istreambuf_iterator<char>(invite), {})});
    } else if (const auto* welcome = std::get_if<protocol::Welcome>(&*message)) {
      blob_token_ = welcome->blob_token;
      joined_ = true;
      protocol::Resume resume;
      for (const auto& [id, held] : held_)
        resume.held.push_back({.task = id.first, .attempt = id.second, .proof = held.task.proof});
      if (!resume.held.empty()) say(resume);
      for (const auto& [id, held] : held_) deliver(held);
    } else if (const auto* lease = std::get_if<protocol::Lease>(&*message)) {
      manifests_.with([&](auto& hashes) { hashes.push_back(lease->manifest); });
      leased_ += lease->tasks.size();
      resumed_.with([&](auto& states) {
        for (const auto& point : lease->resume) states.push_back(point.blob);
      });
      for (const auto& task : lease->tasks) {
        const Held held{.job = lease->job, .task = task};
        held_.emplace(std::pair(TaskId{.job = lease->job, .index = task.index}, task.attempt),
                      held);
        client_->after(std::chrono::milliseconds(1 + random_() % 15),
                       [this, held] { deliver(held); });
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
    if (!held_.contains({TaskId{.job = held.job, .index = held.task.index}, held.task.attempt}))
      return;
    if (held.task.index >= behaviour_.answers_below) return;
    if (behaviour_.fails) {
      return say(protocol::TaskFailed{.task = {.job = held.job, .index = held.task.index},
                                      .attempt = held.task.attempt,
                                      .code = std::string(to_string(ErrorCode::invalid_argument)),
                                      .message = "The shader does not compile."});
    }
    const bool part = held.task.count < 4;  // The job is jobs::count_manifest().
    const auto handed = jobs::hand_in(behaviour_, key_, challenge_, held.job, held.task, part);
    const int times = behaviour_.doubled ? 2 : 1;
    for (int i = 0; i < times; ++i) {
      socket_->send_binary(ByteVector(handed.frame.begin(), handed.frame.end()));
      say(handed.receipt);
    }
  }

  void keep_state_of(const Held& held) {
    const TaskId task{.job = held.job, .index = held.task.index};
    const ByteVector state = state_of(task);
    const protocol::Checkpoint told{.task = task,
                                    .attempt = held.task.attempt,
                                    .blob = crypto::sha256(state),
                                    .bytes = state.size(),
                                    .done = 40,
                                    .of = 100};
    client_->send(
        net::with_bearer(net::put("/v1/blobs/" + told.blob.text(), std::string(as_text(state))),
                         blob_token_),
        [this, told](const Result<net::Response>& answer) {
          EXPECT_TRUE(answer && answer->ok()) << (answer ? answer->body : "no answer");
          say(told);
        });
  }

  const crypto::KeyPair key_;
  const jobs::Behaviour behaviour_;
  const std::uint32_t slots_;
  const bool invited_;  // The worker presents its invitation file.
  std::minstd_rand random_;
  std::string blob_token_;
  std::atomic<bool> joined_ = false;
  std::atomic<std::size_t> leased_ = 0;
  Guarded<std::vector<Hash>> resumed_;
  Guarded<std::vector<Hash>> manifests_;
  protocol::Challenge challenge_;
  std::map<std::pair<TaskId, std::uint32_t>, Held> held_;
  std::shared_ptr<net::Socket> socket_;
  std::atomic<std::size_t> errors_ = 0;
  std::atomic<std::size_t> refused_ = 0;
  std::unique_ptr<net::Client> client_;  // Declared last, so that its thread ends first.
};

// Adds the signature headers to a request. The claim's method, target and body are filled in from
// the request.
inline net::Request sign_request(const crypto::KeyPair& wallet, net::Request request,
                                 protocol::RequestClaim claim,
                                 const std::optional<Hash>& blob = std::nullopt,
                                 const protocol::SignedParts& parts = {}) {
  claim.method = request.method;
  claim.target = protocol::read_target(request.path);
  claim.body = blob.value_or(crypto::sha256(as_bytes(request.body)));
  request.headers["weft-client"] = wallet.public_key().text();
  request.headers["weft-nonce"] = to_hex(claim.nonce);
  request.headers["weft-time"] = std::to_string(claim.time);
  request.headers["weft-signature"] =
      wallet.sign_now(protocol::request_digest(claim, parts)).text();
  return request;
}

// A client that repeats its requests until they are answered and signs them with one wallet.
class TestClient {
 protected:
  explicit TestClient(crypto::KeyPair wallet = crypto::KeyPair::generate().value())
      : wallet_(std::move(wallet)) {}

  void connect(const std::string& url) {
    client_ = net::Client::create({.url = url}).value();
    coordinator_ = {};
  }
  // Repeats the request until a reply other than 503 comes, for at most `patience`.
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
  // Reads as the operator if the test knows the operator's wallet, otherwise with wallet_.
  net::Response read(const std::string& path) { return read(net::get(path)); }
  net::Response read(const net::Request& request) {
    return ask(signed_by(operators_ ? *operators_ : wallet_, request));
  }
  template <class View>
  View view(const std::string& path) {
    const auto answer = read(path);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return api::from_json<View>(answer.body).value();
  }

  // Signs a request as a client does. The body of an upload is signed by the hash of the blob. A
  // nonce of 0 takes a new nonce.
  [[nodiscard]] net::Request signed_by(const crypto::KeyPair& wallet, net::Request request,
                                       std::uint64_t nonce = 0,
                                       std::optional<Hash> blob = std::nullopt) {
    if (coordinator_ == PublicKey())
      coordinator_ =
          PublicKey::parse(
              api::from_json<api::Info>(ask(net::get("/v1/info")).body).value().coordinator)
              .value();
    store::SubmitNonce bytes{};
    if (nonce == 0) {
      bytes = crypto::ordered_id();
    } else {
      std::memcpy(bytes.data(), &nonce, sizeof nonce);
    }
    return sign_request(wallet, std::move(request),
                        {.coordinator = coordinator_, .time = unix_now(), .nonce = bytes}, blob);
  }
  [[nodiscard]] net::Request signed_blob(const crypto::KeyPair& wallet, net::Request request,
                                         const Hash& blob) {
    return signed_by(wallet, std::move(request), 0, blob);
  }
  // Signs an upload part and adds the header with the hash of its bytes.
  [[nodiscard]] net::Request signed_part(const crypto::KeyPair& wallet, net::Request request,
                                         protocol::PartClaim claim) {
    claim.part = crypto::sha256(as_bytes(request.body));
    request.headers["weft-part"] = claim.part.text();
    return signed_by(wallet, std::move(request), 0, protocol::part_digest(claim));
  }
  // Submits a job, and repeats the submission with its nonce until the coordinator answers, as a
  // real client does.
  net::Response submit(const std::string& manifest, std::uint64_t nonce) {
    return ask(signed_by(wallet_, net::post("/v1/jobs", manifest), nonce));
  }
  std::string submitted(const std::string& manifest, std::uint64_t nonce) {
    const auto answer = submit(manifest, nonce);
    EXPECT_EQ(answer.status, 202) << answer.body;
    return answer.status == 202 ? api::from_json<api::Submitted>(answer.body)->id : "";
  }
  bool finished_already(const std::string& id) {
    return view<api::Job>("/v1/jobs/" + id).state != "running";
  }
  api::Job finished(const std::string& id) {
    const Instant give_up = now() + 120s;
    for (;;) {
      auto job = view<api::Job>("/v1/jobs/" + id);
      if (job.state != "running" || now() > give_up) return job;
      std::this_thread::sleep_for(20ms);
    }
  }

  // Checks that the job is done, that its output is correct, and that each task was paid once from
  // the job's escrow.
  void expect_settled(const std::string& id, std::uint32_t tasks) {
    const auto job = finished(id);
    ASSERT_EQ(job.state, "done") << id << ": " << job.reason;
    EXPECT_EQ(job.accepted, tasks);
    ByteVector expected;
    for (std::uint32_t i = 0; i < tasks * 4; ++i) append_le(expected, i);
    EXPECT_EQ(read("/v1/jobs/" + id + "/outputs/0").body, as_text(expected));
    const auto escrow = view<api::LedgerJob>("/v1/ledger?count=1000&job=" + id);
    EXPECT_EQ(escrow.amount, 0);
    std::multiset<std::string> paid;
    for (const auto& entry : escrow.entries) {
      if (entry.key.starts_with("pay:")) paid.insert(entry.key);
    }
    EXPECT_EQ(paid.size(), tasks);
    EXPECT_EQ(std::set<std::string>(paid.begin(), paid.end()).size(), tasks)
        << "no task is paid twice";
  }

  std::unique_ptr<net::Client> client_;
  PublicKey coordinator_;  // The key that /v1/info names; set by the first request.
  std::optional<crypto::KeyPair> operators_;
  const crypto::KeyPair wallet_;
};

class ProcessTest : public testing::Test, protected TestClient {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "weft-process-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    process_ = std::make_unique<Process>(free_port(), folder_);
    connect(process_->url());
    wait_until_ready();
    operators_ = crypto::load_wallet(folder_ / "coordinator.json").value();
  }
  void TearDown() override {
    client_.reset();
    process_.reset();
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  fs::path folder_;
  std::unique_ptr<Process> process_;
};

}  // namespace weft::coordinator
