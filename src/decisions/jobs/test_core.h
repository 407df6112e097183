// The core alone: tests put events in, and the actions that it wants are recorded. It has no store,
// blobs or sessions; data that a coordinator would look up before an event are part of the event.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "common/crypto/keys.h"
#include "common/crypto/sha256.h"
#include "common/proof/merkle.h"
#include "decisions/jobs/accounts.h"
#include "decisions/jobs/core.h"
#include "decisions/jobs/job_submissions.h"
#include "decisions/jobs/result_intake.h"
#include "decisions/jobs/test_work.h"
#include "decisions/jobs/worker_sessions.h"

namespace weft::jobs {

class CoreAlone : public World {
 public:
  static constexpr MicroCredits grant = 1'000'000'000;

  enum class Verifier : std::uint8_t { none, here };
  enum class Count : std::uint8_t { heads, levels };

  explicit CoreAlone(Restored restored = {}, Verifier verifier = Verifier::none,
                     Count count = Count::heads)
      : verifier_(verifier) {
    CoreSettings settings;
    settings.grant = grant;
    settings.grants_need_invitation = false;
    settings.count_levels(count == Count::levels);
    core_.emplace(Core::Parts{.world = *this, .book = book_}, settings);
    const auto taken = core_->restore(std::move(restored), now);
    EXPECT_TRUE(taken.has_value()) << taken.error().message;
    run();
  }

  // Makes decisions, and lets every commit succeed at once.
  void run() {
    do {
      core_->flush(now);
      for (auto done = std::exchange(landing_, {}); auto& each : done) each({});
    } while (!landing_.empty());
    EXPECT_EQ(core_->accounts().ledger().sum(), 0);
  }
  void pass(std::chrono::milliseconds time) {
    now.at += time;
    now.unix += time.count();
    run();
  }

  static Submission submission(const std::string& text, std::uint8_t nonce = 1) {
    auto manifest = manifest::parse(text);
    EXPECT_TRUE(manifest.has_value()) << manifest.error().message;
    Submission made;
    made.client.bytes[0] = 9;
    made.nonce[0] = nonce;
    made.manifest_text = manifest::to_json(*manifest);
    made.manifest_hash = crypto::sha256(as_bytes(made.manifest_text));
    made.manifest = std::make_shared<const manifest::Manifest>(std::move(*manifest));
    made.id.bytes[0] = nonce;
    return made;
  }
  Result<protocol::api::Submitted> submit(Submission submission) {
    std::optional<Result<protocol::api::Submitted>> answer;
    core_->submissions().submit(std::move(submission), now,
                                [&](auto result) { answer = std::move(result); });
    run();
    return answer.value_or(fail(ErrorCode::unavailable, "No answer."));
  }
  // A native worker whose session and key have the same number.
  void arrive(std::uint8_t number, std::string prefix = {}, std::uint32_t slots = 4) {
    Arrival arrival{.session = SessionId(number), .hello = {}, .blob_token = "token"};
    arrival.prefix = std::move(prefix);
    arrival.hello.key = worker(number);
    arrival.hello.versions = versions;
    arrival.invitation = invitation;
    arrival.hello.slots = slots;
    arrival.hello.capabilities.memory_bytes = std::uint64_t{1} << 30;
    arrival.hello.capabilities.f32_gflop_per_s = 1000;
    core_->sessions().arrive(arrival, now);
    run();
  }
  // Delivers an output and the receipt that covers it.
  void deliver(std::uint8_t number, const protocol::Lease& lease, const protocol::LeasedTask& task,
               const ByteVector& output, std::vector<Hash> step_roots = {}) {
    const TaskId id{.job = lease.job, .index = task.index};
    Delivery delivery{.session = SessionId(number), .worker = worker(number), .result = {}};
    delivery.result = {.task = id,
                       .attempt = task.attempt,
                       .root = proof::task_root(std::array{output}),
                       .outputs = {{.hash = crypto::sha256(output), .bytes = output.size()}},
                       .gpu_seconds = 0.001,
                       .wall_seconds = 0.001,
                       .step_roots = std::move(step_roots)};
    const Hash root = delivery.result.root;
    core_->results().deliver(delivery, now);
    CoveringReceipt receipt{.session = SessionId(number),
                            .receipt = {},
                            .items = {},
                            .unleased = {},
                            .statement = {},
                            .claims = {}};
    receipt.items.push_back({.task = id, .attempt = task.attempt, .root = root});
    receipt.statement = {number, static_cast<std::uint8_t>(task.index)};
    receipt.receipt.digest = crypto::sha256(receipt.statement);
    receipt.receipt.worker = worker(number);
    core_->results().receipt(receipt, now);
    run();
  }

  static PublicKey worker(std::uint8_t number) {
    PublicKey key;
    key.bytes[0] = number;
    return key;
  }
  // The messages of one type that were sent to one worker.
  template <class Message>
  std::vector<Message> told(std::uint8_t number) const {
    std::vector<Message> found;
    for (const auto& [session, message] : sent) {
      if (const auto* one = std::get_if<Message>(&message); one && session == SessionId(number))
        found.push_back(*one);
    }
    return found;
  }
  Core& core() { return *core_; }

  // The protocol versions of the workers that arrive next.
  std::vector<std::uint32_t> versions{protocol::version};
  trust::Invitation invitation = trust::Invitation::none;
  Moment now{.at = Instant{} + std::chrono::hours(1), .unix = 1'000'000'000'000};
  std::vector<std::pair<SessionId, protocol::CoordinatorMessage>> sent;
  store::Batch stored;  // All batches, one after the other.
  std::vector<ByteVector> kept;
  std::vector<Hash> forgotten;
  std::vector<JoinOrder> joins;
  std::vector<CompareOrder> comparisons;
  std::vector<VerifyOrder> verifications;
  std::vector<MeasureOrder> measurements;

  // --- World
  void send(SessionId session, protocol::CoordinatorMessage message) override {
    sent.emplace_back(session, std::move(message));
  }
  void close(SessionId, protocol::ErrorMessage) override {}
  void keep(ByteVector bytes) override { kept.push_back(std::move(bytes)); }
  void commit(store::Batch batch, std::function<void(Result<>)> done) override {
    stored.merge(std::move(batch));
    landing_.push_back(std::move(done));
  }
  void join(JoinOrder order) override { joins.push_back(std::move(order)); }
  void inspect(AuditOrder) override { ADD_FAILURE() << "nothing is audited here"; }
  void compare(CompareOrder order) override { comparisons.push_back(std::move(order)); }
  [[nodiscard]] bool verifies() const override { return verifier_ == Verifier::here; }
  void verify(VerifyOrder order) override { verifications.push_back(std::move(order)); }
  void measure(MeasureOrder order) override { measurements.push_back(std::move(order)); }
  void forget(const std::vector<Hash>& blobs) override {
    forgotten.insert(forgotten.end(), blobs.begin(), blobs.end());
  }
  void forget_states(const JobId&, const std::vector<store::OutputBlob>& states) override {
    for (const store::OutputBlob& state : states) forgotten.push_back(state.hash);
  }
  void fatal(const Error& error) override { ADD_FAILURE() << error.message; }

 private:
  const Verifier verifier_;
  Book book_;
  std::optional<Core> core_;
  std::vector<std::function<void(Result<>)>> landing_;
};

}  // namespace weft::jobs
