// The tables of the core without a core, for tests of one part: a world that records the requests
// to it, owners with credits, running jobs, and connected workers.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/rulings.h"
#include "decisions/jobs/test_work.h"
#include "decisions/ledger/answer_pay.h"

namespace weft::jobs {

class RecordingWorld final : public World {
 public:
  void send(SessionId session, protocol::CoordinatorMessage message) override {
    sent.emplace_back(session, std::move(message));
  }
  void close(SessionId session, protocol::ErrorMessage why) override {
    closed.emplace_back(session, std::move(why.message));
  }
  void keep(ByteVector bytes) override { kept.push_back(std::move(bytes)); }
  void commit(store::Batch batch, std::function<void(Result<>)> done) override {
    stored.merge(std::move(batch));
    landing.push_back(std::move(done));
  }
  void join(JoinOrder order) override { joins.push_back(std::move(order)); }
  void inspect(AuditOrder order) override { inspections.push_back(std::move(order)); }
  void compare(CompareOrder order) override { comparisons.push_back(std::move(order)); }
  [[nodiscard]] bool verifies() const override { return has_verifier; }
  void verify(VerifyOrder order) override { verifications.push_back(std::move(order)); }
  void measure(MeasureOrder order) override { measurements.push_back(std::move(order)); }
  void find_paid(FindPaid order) override { lookups.push_back(order); }
  void join_again(const JobId& job) override { joined_again.push_back(job); }
  void audit_answer(const billing::AnswerAuditOrder& order) override {
    answer_audits.push_back(order);
  }
  void answer_settled(const billing::AnswerId& id, billing::AnswerFate fate) override {
    settled.emplace_back(id, fate);
  }
  void bar_server(const PublicKey& worker) override { barred.push_back(worker); }
  void forget(const std::vector<Hash>& blobs) override {
    forgotten.insert(forgotten.end(), blobs.begin(), blobs.end());
  }
  void forget_states(const JobId&, const std::vector<store::OutputBlob>& states) override {
    for (const store::OutputBlob& state : states) forgotten.push_back(state.hash);
  }
  void fatal(const Error& error) override { fatal_errors.push_back(error.message); }

  // The messages of one type that were sent in the session.
  template <class Message>
  [[nodiscard]] std::vector<Message> told(SessionId session) const {
    std::vector<Message> found;
    for (const auto& [to, message] : sent) {
      if (const auto* one = std::get_if<Message>(&message); one && to == session)
        found.push_back(*one);
    }
    return found;
  }

  bool has_verifier = false;
  std::vector<std::pair<SessionId, protocol::CoordinatorMessage>> sent;
  std::vector<std::pair<SessionId, std::string>> closed;
  store::Batch stored;  // All batches, one after the other.
  std::vector<std::function<void(Result<>)>> landing;
  std::vector<ByteVector> kept;
  std::vector<Hash> forgotten;
  std::vector<JoinOrder> joins;
  std::vector<AuditOrder> inspections;
  std::vector<CompareOrder> comparisons;
  std::vector<VerifyOrder> verifications;
  std::vector<MeasureOrder> measurements;
  std::vector<FindPaid> lookups;
  std::vector<JobId> joined_again;
  std::vector<billing::AnswerAuditOrder> answer_audits;
  std::vector<std::pair<billing::AnswerId, billing::AnswerFate>> settled;
  std::vector<PublicKey> barred;
  std::vector<std::string> fatal_errors;
};

// Records rulings and does not carry them out.
class RecordingRulings final : public Rulings {
 public:
  void carry_out(const std::vector<trust::Ruling>& rulings, Moment) override {
    carried_out.insert(carried_out.end(), rulings.begin(), rulings.end());
  }
  void end_irreproducible(const JobId& job, std::string_view, Moment) override {
    irreproducible.push_back(job);
  }
  template <class Kind>
  [[nodiscard]] std::vector<Kind> of() const {
    std::vector<Kind> found;
    for (const trust::Ruling& ruling : carried_out) {
      if (const auto* one = std::get_if<Kind>(&ruling)) found.push_back(*one);
    }
    return found;
  }

  std::vector<trust::Ruling> carried_out;
  std::vector<JobId> irreproducible;
};

// Leases no check to a worker.
class NoCheckLeases final : public CheckLeases {
 public:
  void leased(const JobId&, const PublicKey& worker, std::span<const protocol::LeasedTask>,
              Moment) override {
    told_of_leases.push_back(worker);
  }
  void worker_came(Moment) override { ++came; }
  void connected(const PublicKey&) override {}
  void worker_left(const PublicKey& worker, Moment) override { left.push_back(worker); }
  void job_ends(const JobId& job) override { ended.push_back(job); }

  std::vector<PublicKey> told_of_leases;
  int came = 0;
  std::vector<PublicKey> left;
  std::vector<JobId> ended;
};

// Open claims with the values that the test sets.
class ClaimsAsSaid final : public OpenClaims {
 public:
  [[nodiscard]] bool may_take_all(const PublicKey& worker) const override {
    return worker == convicted;
  }
  [[nodiscard]] MicroCredits owed_by(const OwnerId&) const override { return owed; }
  [[nodiscard]] bool may_correct_for(const PublicKey& client) const override {
    return client == waiting;
  }
  void settle() override { ++settled; }

  std::optional<PublicKey> convicted, waiting;
  MicroCredits owed = 0;
  int settled = 0;
};

// Holds the pay of one worker.
class HoldsPayOf final : public PayHolding {
 public:
  [[nodiscard]] bool holds_pay_of(const PublicKey& one) const override { return one == worker; }
  void hold(std::vector<HeldPays::Entry> of_task, const RunningJob&, std::uint32_t, std::size_t,
            Moment) override {
    held.insert(held.end(), of_task.begin(), of_task.end());
  }
  void hold_unknown(const HeldPays::Entry& entry, Moment) override { held.push_back(entry); }

  std::optional<PublicKey> worker;
  std::vector<HeldPays::Entry> held;
};

struct TestTables {
  explicit TestTables(CoreSettings settings = {}) : tables(world, book, std::move(settings)) {
    tables.latest = now;
  }

  static PublicKey key(std::uint8_t number) {
    PublicKey made;
    made.bytes[0] = number;
    return made;
  }
  static OwnerId owner(std::uint8_t number) { return OwnerId::of_first(key(number)); }
  static JobId job_id(std::uint8_t number) {
    JobId made;
    made.bytes[0] = number;
    return made;
  }
  static Hash hash(std::uint8_t number) {
    Hash made{};
    made.bytes[0] = number;
    return made;
  }

  // Gives the owner of the key credits.
  void issue(std::uint8_t number, MicroCredits amount) {
    ASSERT_TRUE(tables.accounts.move(ledger::issue(owner(number), amount, ++issued_), now));
  }
  void stake(std::uint8_t number, MicroCredits amount) {
    issue(number, amount);
    ASSERT_TRUE(tables.accounts.move(ledger::deposit_stake(owner(number), amount, ++issued_), now));
  }
  [[nodiscard]] MicroCredits spendable(std::uint8_t number) const {
    return tables.accounts.spendable(key(number));
  }
  [[nodiscard]] MicroCredits balance(const ledger::Account& account) const {
    return tables.accounts.ledger().balance(account);
  }

  static std::shared_ptr<const manifest::Manifest> parsed(const std::string& text) {
    auto manifest = manifest::parse(text);
    EXPECT_TRUE(manifest.has_value()) << manifest.error().message;
    return std::make_shared<const manifest::Manifest>(std::move(*manifest));
  }
  // A job of the client that does not run yet.
  [[nodiscard]] RunningJob job(std::uint8_t number, std::uint8_t client,
                               const std::string& manifest) const {
    RunningJob made;
    made.row.id = job_id(number);
    made.row.client = key(client);
    made.row.created = now.unix;
    made.owner = owner(client);
    made.manifest = parsed(manifest);
    made.row.tasks = made.manifest->split.tasks;
    made.row.budget = made.manifest->budget;
    made.accepted.resize(made.row.tasks);
    return made;
  }
  // A job of the client that runs, known to the tables alone.
  RunningJob& run(std::uint8_t number, std::uint8_t client, const std::string& manifest) {
    tables.jobs.add(job(number, client, manifest));
    return tables.jobs.at(job_id(number));
  }
  // A job of the client that runs and is known to the scheduler.
  RunningJob& schedule(std::uint8_t number, std::uint8_t client, const std::string& manifest) {
    RunningJob& made = run(number, client, manifest);
    EXPECT_TRUE(
        tables.scheduler.add_job(scheduler::job_from(made.row.id, *made.manifest), now.at, {}));
    return made;
  }

  // Connects a worker whose session has the number of its key.
  ConnectedWorker& connect(std::uint8_t number) {
    ConnectedWorker worker;
    worker.session = SessionId(number);
    worker.hello.key = key(number);
    worker.hello.slots = 4;
    worker.hello.capabilities.memory_bytes = std::uint64_t{1} << 30;
    worker.hello.capabilities.f32_gflop_per_s = 1000;
    worker.blob_token = "token-" + std::to_string(number);
    scheduler::Worker joining{.key = key(number),
                              .kind = worker.hello.kind,
                              .slots = worker.hello.slots,
                              .capabilities = worker.hello.capabilities};
    joining.local = true;
    joining.standing = scheduler::Standing::invited;
    EXPECT_TRUE(tables.scheduler.add_worker(joining, now.at));
    tables.workers.add(std::move(worker));
    return *tables.workers.find(key(number));
  }
  // Leases that the scheduler decides on now.
  std::vector<scheduler::Lease> leases() {
    std::vector<scheduler::Lease> found;
    for (auto& decision : tables.scheduler.decide(now.at)) {
      if (auto* lease = std::get_if<scheduler::Lease>(&decision))
        found.push_back(std::move(*lease));
    }
    return found;
  }

  // Stores all rows and runs all effects.
  void land() {
    tables.outbox.flush();
    for (auto done = std::exchange(world.landing, {}); auto& each : done) each({});
    EXPECT_EQ(tables.accounts.ledger().sum(), 0);
  }
  // The answer to a request, after everything that it reports is durable.
  template <class Value, class Ask>
  Result<Value> answer(Ask&& ask) {
    std::optional<Result<Value>> told;
    std::forward<Ask>(ask)(Answer<Value>([&](Result<Value> result) { told = std::move(result); }));
    land();
    return told ? std::move(*told) : fail(ErrorCode::unavailable, "No answer.");
  }
  void pass(std::chrono::milliseconds time) {
    now.at += time;
    now.unix += time.count();
    tables.latest = now;
  }

  Moment now{.at = Instant{} + std::chrono::hours(1), .unix = 1'000'000'000'000};
  RecordingWorld world;
  Book book;
  CoreTables tables;

 private:
  std::uint64_t issued_ = 0;
};

}  // namespace weft::jobs
