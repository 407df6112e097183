// A whole network in one thread and simulated time: the real core, sessions, intake and blobs, an
// in-memory store, and workers that compute y[i] = i or misbehave on demand. All messages are
// encoded and decoded.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "apps/coordinator/ingest/corrections.h"
#include "apps/coordinator/ingest/earlier_receipts.h"
#include "apps/coordinator/ingest/intake.h"
#include "apps/coordinator/ingest/restoring.h"
#include "apps/coordinator/ingest/session.h"
#include "apps/coordinator/ingest/submission.h"
#include "apps/coordinator/ingest/verifier.h"
#include "apps/coordinator/test_runner.h"
#include "common/crypto/keys.h"
#include "common/protocol/codec.h"
#include "common/protocol/digests.h"
#include "common/protocol/messages.h"
#include "decisions/jobs/accounts.h"
#include "decisions/jobs/core.h"
#include "decisions/jobs/corrections.h"
#include "decisions/jobs/job_life.h"
#include "decisions/jobs/job_submissions.h"
#include "decisions/jobs/result_comparisons.h"
#include "decisions/jobs/test_work.h"
#include "decisions/jobs/verification_leases.h"
#include "decisions/jobs/work.h"
#include "platform/store/memory/memory_store.h"

namespace weft::coordinator {

class TestFolder {
 public:
  TestFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "weft-coordinator-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

class TestNetwork;

// One simulated worker, which records the messages that it is sent.
class TestWorker {
 public:
  TestWorker(TestNetwork& its_network, jobs::SessionId its_session, const crypto::KeyPair& its_key,
             jobs::Behaviour its_behaviour)
      : network(its_network),
        session(its_session),
        key(its_key),
        behaviour(std::move(its_behaviour)) {}

  void connect(protocol::WorkerKind kind = protocol::WorkerKind::native);
  void say(const protocol::WorkerMessage& message);
  void deliver(const protocol::Lease& lease, const protocol::LeasedTask& task);
  void hear(const std::string& text);

  TestNetwork& network;
  const jobs::SessionId session;
  const crypto::KeyPair& key;
  jobs::Behaviour behaviour;
  std::string vendor{};  // Vendor of the worker's GPU.
  std::shared_ptr<Session> line;
  protocol::Challenge challenge;
  std::vector<protocol::Verdict> verdicts;
  std::vector<protocol::Lease> leases;
  std::vector<protocol::Cancel> cancels;
  std::vector<protocol::ErrorMessage> errors;
  std::vector<protocol::OpenChunks> opens;
  std::map<std::pair<TaskId, std::uint32_t>, ByteVector> handed;
  bool hears_texts = false;  // The worker records messages and does nothing else.
  std::vector<std::string> texts;
  bool welcomed = false;
  bool recognised = false;
  bool closed = false;
};

class TestNetwork : public jobs::World {
 public:
  static constexpr MicroCredits grant = 1'000'000'000;

  // Core settings with only the rules of quorums; levels of workers do not count.
  static jobs::CoreSettings by_heads() {
    jobs::CoreSettings settings;
    settings.count_levels(false);
    return settings;
  }

  using OpenStore = std::function<std::unique_ptr<store::Store>()>;
  explicit TestNetwork(OpenStore open_store = store::memory::create)
      : TestNetwork(by_heads(), std::move(open_store)) {}
  explicit TestNetwork(jobs::CoreSettings settings, OpenStore open_store = store::memory::create)
      : settings_(std::move(settings)),
        identity_(crypto::KeyPair::generate().value()),
        open_store_(std::move(open_store)) {
    open();
    start();
  }

  // Restarts the coordinator over the same open store. All connections are lost.
  void restart() {
    end_process();
    start();
  }
  // Simulates a reboot of the machine: closes everything, calls `meanwhile`, and opens everything
  // again.
  void restart_machine(const std::function<void()>& meanwhile) {
    end_process();
    verifier_.reset();
    store_.reset();
    intake_.reset();
    blobs_.reset();
    meanwhile();
    open();
    start();
  }

  [[nodiscard]] bool is_part(const JobId& job, const protocol::LeasedTask& task) const {
    const auto manifest = book_->manifest(job);
    return manifest && manifest::Range{.first = task.first, .count = task.count} !=
                           manifest::task_range(*manifest, task.index);
  }
  TestWorker& join(const crypto::KeyPair& key, jobs::Behaviour behaviour = {},
                   protocol::WorkerKind kind = protocol::WorkerKind::native) {
    auto& worker = connect(key, std::move(behaviour));
    worker.connect(kind);
    run();
    return worker;
  }
  // Opens a worker's connection; the worker says nothing yet.
  TestWorker& connect(const crypto::KeyPair& key, jobs::Behaviour behaviour = {}) {
    const jobs::SessionId id = ++sessions_;
    auto worker = std::make_unique<TestWorker>(*this, id, key, std::move(behaviour));
    worker->line = std::make_shared<Session>(
        Session::Parts{.id = id,
                       .coordinator = identity_.public_key(),
                       .sign = [this](ByteSpan digest) { return identity_.sign_now(digest); },
                       .host = "test:7300",
                       .book = *book_,
                       .intake = *intake_,
                       .connection = std::make_shared<TestConnection>(*worker),
                       .secret = settings_.secret,
                       .core =
                           [this](std::function<void(jobs::Core&, jobs::Moment)> event) {
                             events_.push_back(std::move(event));
                             return true;
                           },
                       .work =
                           [this](const std::function<void()>& work) {
                             hold_work ? held_work.push_back(work) : work();
                             return true;
                           },
                       .invite_file = {},
                       .earlier = earlier_.get(),
                       .without = invitation});
    return *workers_.emplace(id, std::move(worker)).first->second;
  }

  // Submits a job and returns the coordinator's answer.
  Result<protocol::api::Submitted> submit(const crypto::KeyPair& client, const std::string& text,
                                          store::SubmitNonce nonce = {}) {
    std::optional<Result<protocol::api::Submitted>> answer;
    post_submission(client, text, nonce,
                    [&](Result<protocol::api::Submitted> result) { answer = std::move(result); });
    run();
    return answer.value_or(fail(ErrorCode::unavailable, "No answer."));
  }
  void post_submission(const crypto::KeyPair& client, const std::string& text,
                       store::SubmitNonce nonce, jobs::Answer<protocol::api::Submitted> answer) {
    auto submission =
        read_submission({.client = client.public_key(), .nonce = nonce}, text, *blobs_, {}, {});
    ASSERT_TRUE(submission.has_value()) << submission.error().error.message;
    submission->id = new_id();
    if (amend) amend(*submission);
    ASSERT_TRUE(look_up_nonce(*submission, *store_).has_value());
    events_.push_back([submission = std::move(*submission), answer = std::move(answer)](
                          jobs::Core& core, jobs::Moment now) {
      core.submissions().submit(submission, now, answer);
    });
  }

  // Handles all events that are due at the current simulated time.
  void run() {
    for (;;) {
      while (!events_.empty()) {
        auto event = std::move(events_.front());
        events_.pop_front();
        event(*core_, now_);
      }
      core_->flush(now_);
      EXPECT_EQ(core_->accounts().ledger().sum(), 0) << "the ledger sums to zero after every event";
      if (!hold_commits) {
        apply(std::exchange(held_commits_, {}));
      }
      while (!landed_.empty()) {
        auto done = std::move(landed_.front());
        landed_.pop_front();
        done();
      }
      if (events_.empty() && (hold_commits || held_commits_.empty()) && landed_.empty()) return;
    }
  }
  void pass(std::chrono::milliseconds time) {
    now_.at += time;
    now_.unix += time.count();
    run();
  }
  // Advances the time in steps, with heartbeats of the workers, until the job has ended or `limit`
  // has passed.
  store::Job finish(const JobId& job, std::chrono::seconds limit = std::chrono::seconds(120)) {
    for (std::chrono::milliseconds passed{0}; passed < limit;
         passed += std::chrono::milliseconds(500)) {
      const auto row = store_->job(job);
      if (row && store::is_terminal(row->state)) break;
      for (auto& [id, worker] : workers_) {
        if (!worker->closed && worker->welcomed && !worker->behaviour.silent)
          worker->say(protocol::Beat{});
      }
      pass(std::chrono::milliseconds(500));
    }
    return store_->job(job).value();
  }

  MicroCredits balance(const ledger::Account& account) const {
    return core_->accounts().ledger().balance(account);
  }
  ByteVector output(const store::Job& job) const {
    return blobs_->read(job.outputs.at(0).hash).value();
  }
  void post(std::function<void(jobs::Core&, jobs::Moment)> event) {
    events_.push_back(std::move(event));
  }
  store::Store& store() { return *store_; }
  store::Blobs& blobs() { return *blobs_; }
  jobs::Core& core() { return *core_; }
  const PublicKey& coordinator() const { return identity_.public_key(); }

  // The invitation of workers that join after it is set.
  trust::Invitation invitation = trust::Invitation::worker;
  // True gives the coordinator a verifier of its own, which computes the counting job.
  bool verifier = false;
  bool verifier_fails = false;  // The verifier fails all orders.
  CountRunner::Unsteady verifier_unsteady = CountRunner::Unsteady::no;
  CountRunner::Second verifier_second = CountRunner::Second::same;
  CountRunner::Compute verifier_compute = {};
  std::size_t verified = 0;  // Number of orders to the verifier.
  // The verifier drops checks of paid tasks after this number.
  std::optional<int> drop_paid_checks;
  bool paid_checks_fail = false;
  bool paid_checks_late = false;  // The verifier exceeds the time for paid checks.
  bool drop_joins = false;        // Drops orders to join corrected jobs again, as a crash would.
  std::function<void(jobs::Submission&)> amend;  // Changes each submission before it is sent.
  std::uint64_t price_min = 0;                   // Lowest price that later joining workers accept.
  bool taint_grants = false;
  bool invited_grants = false;  // Only invited clients get a grant of credits.
  bool hold_commits = false;    // Holds commits back instead of storing them.
  bool merge_commits = false;   // Waiting commits are stored as one batch.
  bool hold_work = false;       // Frames wait until the test handles them.
  std::vector<std::function<void()>> held_work;
  bool hold_comparisons = false;  // Comparisons wait until the test runs them.
  std::vector<std::function<void()>> held_comparisons;
  std::size_t commits = 0;
  std::function<void()> before_commit;  // Called before each commit to the store.
  // Called if a commit fails and the test expects it.
  std::function<void(const Error&)> commit_fails;
  std::function<void(const Error&)>
      // Called if a start fails and the test expects it; no core is usable afterwards.
      start_fails;
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }

  // --- Functions of jobs::World.
  void send(jobs::SessionId session, protocol::CoordinatorMessage message) override {
    if (const auto found = workers_.find(session); found != workers_.end())
      found->second->line->send(message);
  }
  void close(jobs::SessionId session, protocol::ErrorMessage why) override {
    if (const auto found = workers_.find(session); found != workers_.end())
      found->second->line->end(why);
  }
  void keep(ByteVector bytes) override { ASSERT_TRUE(blobs_->add(bytes).has_value()); }
  void commit(store::Batch batch, std::function<void(Result<>)> done) override {
    ++commits;
    held_commits_.push_back({std::move(batch), std::move(done)});
  }
  void join(jobs::JoinOrder order) override {
    auto outputs = intake_->join(order.job, *order.manifest, order.parts);
    events_.push_back(
        [id = order.job, outputs = std::move(outputs)](jobs::Core& core, jobs::Moment now) {
          core.jobs().joined(id, outputs, now);
        });
  }
  void inspect(jobs::AuditOrder order) override {
    const auto outcome = intake_->inspect(order);
    events_.push_back(
        [task = order.task, auditor = order.auditor, outcome](jobs::Core& core, jobs::Moment now) {
          core.checks().inspected(task, auditor, outcome, now);
        });
  }
  void compare(jobs::CompareOrder order) override {
    const auto compare = [this, order = std::move(order)] {
      events_.push_back([result = intake_->compare(order)](jobs::Core& core, jobs::Moment now) {
        core.comparisons().compared(result, now);
      });
    };
    hold_comparisons ? held_comparisons.push_back(compare) : compare();
  }
  void forget(const std::vector<Hash>& blobs) override {
    for (const Hash& blob : blobs) (void)blobs_->remove(blob);
  }
  [[nodiscard]] bool verifies() const override { return verifier; }
  void verify(jobs::VerifyOrder order) override {
    ++verified;
    if (order.paid && drop_paid_checks && (*drop_paid_checks)-- == 0) {
      drop_paid_checks = 0;
      return;
    }
    if (order.paid && (paid_checks_fail || paid_checks_late)) {
      const jobs::Checked checked{
          .reason = paid_checks_late ? "It takes too long." : "Its inputs are gone.",
          .late = paid_checks_late};
      events_.push_back(
          [task = order.task, root = order.root, checked](jobs::Core& core, jobs::Moment now) {
            core.corrections().rechecked(task, root, checked, now);
          });
      return;
    }
    await_verifier([&] { its_verifier().verify(std::move(order)); });
  }
  void measure(jobs::MeasureOrder order) override {
    await_verifier([&] { its_verifier().measure(std::move(order)); });
  }
  void find_paid(jobs::FindPaid order) override {
    events_.push_back(
        [found = coordinator::find_paid(order, *store_)](jobs::Core& core, jobs::Moment now) {
          core.corrections().paid_found(found, now);
        });
  }
  void join_again(const JobId& job) override {
    if (drop_joins) return;
    events_.push_back(
        [job, joined = coordinator::join_again(job, *store_, *intake_)](
            jobs::Core& core, jobs::Moment) { core.corrections().joined_again(job, joined); });
  }
  void fatal(const Error& error) override {
    if (commit_fails) return commit_fails(error);
    ADD_FAILURE() << "The store refused a batch: " << error.message;
  }
  std::vector<JobId> new_ids(std::uint32_t count) {
    std::vector<JobId> ids(count);
    for (JobId& id : ids) id = new_id();
    return ids;
  }
  JobId new_id() {
    JobId id;
    ++jobs_;
    for (std::size_t i = 0; i < sizeof jobs_; ++i)
      id.bytes[i] = static_cast<std::uint8_t>(jobs_ >> (8 * i));
    return id;
  }

 private:
  struct Held {
    store::Batch batch;
    std::function<void(Result<>)> done;
  };
  class TestConnection final : public WorkerConnection {
   public:
    explicit TestConnection(TestWorker& worker) : worker_(worker) {}
    void send_text(std::string text) override { worker_.hear(text); }
    void close(std::string) override { worker_.closed = true; }
    void recognise() override { worker_.recognised = true; }

   private:
    TestWorker& worker_;
  };

  Verifier& its_verifier() {
    if (!verifier_) {
      const auto answer = [this](std::function<void(jobs::Core&, jobs::Moment)> event) {
        const std::lock_guard lock(verifier_mutex_);
        verifier_answer_ = std::move(event);
        verifier_answered_.notify_one();
      };
      verifier_ = std::make_unique<Verifier>(
          *blobs_,
          [this] {
            return std::make_unique<CountRunner>(verifier_fails, verifier_unsteady, verifier_second,
                                                 verifier_compute);
          },
          [answer](const jobs::VerifyOrder& order, const jobs::Checked& checked) {
            answer([task = order.task, root = order.root, paid = order.paid, checked](
                       jobs::Core& core, jobs::Moment now) {
              paid ? core.corrections().rechecked(task, root, checked, now)
                   : core.checks().verified(task, root, checked, now);
            });
          },
          [answer](const JobId& job, const Result<scheduler::Measurement>& measurement) {
            answer([job, measurement](jobs::Core& core, jobs::Moment now) {
              core.checks().measured(job, measurement, now);
            });
          },
          VerifierBounds{.late_for = Duration(0)});  // In simulated time no check is late.
    }
    return *verifier_;
  }
  // Runs an order to the verifier at once; a real verifier has a thread of its own.
  void await_verifier(const std::function<void()>& order) {
    order();
    std::unique_lock lock(verifier_mutex_);
    verifier_answered_.wait(lock, [&] { return verifier_answer_ != nullptr; });
    events_.push_back(std::exchange(verifier_answer_, nullptr));
  }

  void start() {
    jobs::CoreSettings settings = settings_;
    settings.grant = grant;
    settings.grants_tainted = taint_grants;  // If false, granted credits can be staked.
    settings.grants_need_invitation = invited_grants;
    core_ =
        std::make_unique<jobs::Core>(jobs::Core::Parts{.world = *this, .book = *book_}, settings);
    const auto restored = [&]() -> Result<> {
      WEFT_ASSIGN(auto loaded, store_->load());
      WEFT_ASSIGN(auto earlier, EarlierReceipts::read(loaded, *store_, *blobs_, now_.unix));
      earlier_ = std::make_unique<EarlierReceipts>(std::move(earlier));
      WEFT_ASSIGN(auto given, look_up(std::move(loaded), *store_, *blobs_, now_.unix));
      return core_->restore(std::move(given), now_);
    }();
    if (!restored && start_fails) return start_fails(restored.error());
    ASSERT_TRUE(restored.has_value()) << restored.error().message;
    run();
  }
  void open() {
    store_ = open_store_();
    blobs_ = store::Blobs::open(folder_.path(), {}).value();
    intake_ = std::make_unique<Intake>(*blobs_);
  }
  void end_process() {
    workers_.clear();
    events_.clear();
    landed_.clear();
    held_commits_.clear();
    core_.reset();
    book_ = std::make_unique<jobs::Book>();
  }
  void apply(std::vector<Held> group) {
    if (!group.empty() && before_commit) before_commit();
    if (merge_commits && group.size() > 1) {
      store::Batch merged;
      for (auto& held : group) merged.merge(std::move(held.batch));
      const auto done = store_->commit(merged);
      for (auto& held : group)
        landed_.push_back([call = std::move(held.done), done] { call(done); });
      return;
    }
    for (auto& held : group) {
      const auto done = store_->commit(held.batch);
      landed_.push_back([call = std::move(held.done), done] { call(done); });
    }
  }

  const jobs::CoreSettings settings_;
  TestFolder folder_;
  crypto::KeyPair identity_;
  OpenStore open_store_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<store::Blobs> blobs_;
  std::unique_ptr<jobs::Book> book_ = std::make_unique<jobs::Book>();
  std::unique_ptr<Intake> intake_;
  std::unique_ptr<EarlierReceipts> earlier_;
  std::unique_ptr<jobs::Core> core_;
  std::deque<std::function<void(jobs::Core&, jobs::Moment)>> events_;
  std::deque<std::function<void()>> landed_;
  std::vector<Held> held_commits_;
  std::map<jobs::SessionId, std::unique_ptr<TestWorker>> workers_;
  jobs::SessionId sessions_;
  std::uint32_t jobs_ = 0;
  std::mutex verifier_mutex_;
  std::condition_variable verifier_answered_;
  std::function<void(jobs::Core&, jobs::Moment)> verifier_answer_;
  std::unique_ptr<Verifier> verifier_;
  jobs::Moment now_{.at = Instant{} + std::chrono::hours(1), .unix = 1'000'000'000'000};
};

// A lease in the form in which a worker reports it after a reconnect.
inline protocol::HeldTask held_of(const protocol::Lease& lease, const protocol::LeasedTask& task) {
  return {.task = {.job = lease.job, .index = task.index},
          .attempt = task.attempt,
          .proof = task.proof};
}

inline void TestWorker::connect(protocol::WorkerKind kind) {
  protocol::Hello hello;
  hello.versions = {protocol::version};
  hello.key = key.public_key();
  hello.kind = kind;
  hello.software = "test";
  hello.slots = 4;
  hello.price_min = network.price_min;
  hello.capabilities.memory_bytes = std::uint64_t{1} << 30;
  hello.capabilities.f32_gflop_per_s = 1000;
  hello.capabilities.vendor = vendor;
  say(hello);
}

inline void TestWorker::say(const protocol::WorkerMessage& message) {
  line->on_text(protocol::encode(message));
}

inline void TestWorker::hear(const std::string& text) {
  if (hears_texts) return texts.push_back(text);
  const auto message = protocol::decode_coordinator_message(text);
  ASSERT_TRUE(message.has_value()) << message.error().message;
  if (const auto* asked = std::get_if<protocol::Challenge>(&*message)) {
    challenge = *asked;
    say(protocol::Prove{.signature = key.sign_now(protocol::hello_digest(
                            asked->coordinator, asked->nonce, key.public_key()))});
  } else if (std::holds_alternative<protocol::Welcome>(*message)) {
    welcomed = true;
  } else if (const auto* verdict = std::get_if<protocol::Verdict>(&*message)) {
    verdicts.push_back(*verdict);
  } else if (const auto* cancel = std::get_if<protocol::Cancel>(&*message)) {
    cancels.push_back(*cancel);
  } else if (const auto* error = std::get_if<protocol::ErrorMessage>(&*message)) {
    errors.push_back(*error);
  } else if (const auto* to_open = std::get_if<protocol::OpenChunks>(&*message)) {
    opens.push_back(*to_open);
    if (behaviour.opens_nothing) return;
    protocol::Opening opening{
        .task = to_open->task, .attempt = to_open->attempt, .roots = {}, .paths = {}};
    const ByteVector& bytes = handed.at({to_open->task, to_open->attempt});
    opening.roots.push_back(proof::output_root(bytes));
    if (behaviour.opens_wrong) opening.roots[0].bytes[0] ^= 1;
    for (const auto& [output, chunk] : to_open->chunks) {
      const auto path = proof::inclusion_path(bytes, chunk).value();
      opening.paths.push_back(
          {.output = output, .chunk = chunk, .chunks = path.chunks, .siblings = path.siblings});
    }
    network.post([this, opening](jobs::Core&, jobs::Moment) { say(opening); });
  } else if (const auto* lease = std::get_if<protocol::Lease>(&*message)) {
    leases.push_back(*lease);
    if (behaviour.silent) return;
    // Posted instead of called, because a worker must not answer inside the call that tells it of
    // the lease.
    network.post([this, given = *lease](jobs::Core&, jobs::Moment) {
      for (const auto& task : given.tasks) deliver(given, task);
    });
  }
}

inline void TestWorker::deliver(const protocol::Lease& lease, const protocol::LeasedTask& task) {
  if (task.index >= behaviour.answers_below) return;
  if (behaviour.fails) {
    return say(protocol::TaskFailed{.task = {.job = lease.job, .index = task.index},
                                    .attempt = task.attempt,
                                    .code = "internal",
                                    .message = "It does not want to."});
  }
  const bool part = network.is_part(lease.job, task);
  const jobs::Handed made = jobs::hand_in(behaviour, key, challenge, lease.job, task, part);
  handed[{TaskId{.job = lease.job, .index = task.index}, task.attempt}] = made.bytes;
  if (behaviour.receipt_first) say(made.receipt);
  line->on_binary(made.frame);
  if (!behaviour.receipt_first) say(made.receipt);
  if (behaviour.doubled) {
    line->on_binary(made.frame);
    say(made.receipt);
  }
}

}  // namespace weft::coordinator
