// The coordinator in tests of the session: it greets, leases, checks roots and receipts with the
// real crypto, and pays each task once. It is strict: actions that a worker may not do are recorded
// in `complaints`.
#pragma once

#include "common/base/byte_reader.h"
#include "common/proof/merkle.h"
#include "common/proof/receipt.h"
#include "common/protocol/digests.h"
#include "common/protocol/receipt_claims.h"
#include "common/protocol/versions.h"
#include "worker/tasks/events.h"
#include "worker/tasks/test_fakes.h"

namespace weft::worker {

class FakeCoordinator {
 public:
  explicit FakeCoordinator(FakeHost& host) : host_(host) {
    host.on_text = [this](const std::string& text) { on_text(text); };
    host.on_binary = [this](const ByteVector& bytes) { on_binary(bytes); };
  }

  void send(const protocol::CoordinatorMessage& message) {
    on_traffic();
    host_.deliver_text(protocol::encode(message, frames));
  }
  // Leases tasks [0, count) of a job whose manifest is `manifest`, `at_once` a message.
  void add_job(const Hash& manifest, std::uint32_t count) {
    for (std::uint32_t index = 0; index < count; ++index) open_.insert(index);
    manifest_ = manifest;
    if (welcomed_) lease_open();
  }
  void lease_open() {
    protocol::Lease lease{.job = job,
                          .manifest = manifest_,
                          .piece_workgroups_max = 0,
                          .wall_ms_max = 1000,
                          .tasks = {}};
    for (const std::uint32_t index : open_) {
      if (held_.insert(index).second)
        lease.tasks.push_back(
            {.index = index, .attempt = 1, .first = index, .count = 1, .proof = proof_of(index)});
    }
    if (!lease.tasks.empty()) send(lease);
  }
  [[nodiscard]] bool done() const { return open_.empty(); }
  [[nodiscard]] bool welcomed() const { return welcomed_; }

  // Takes another key, as if it had been rotated; equal numbers give equal keys.
  void take_key(std::uint8_t number) {
    identity_ = crypto::KeyPair::from_seed(ByteVector(32, number)).value();
  }

  JobId job{};
  std::function<void()> on_traffic = [] {};  // Called for every message in either direction.
  bool answer_verdicts = true;
  bool cancels_settled = true;  // False: a worker that comes back keeps all that it holds.
  std::uint32_t version = protocol::version;  // The version that the coordinator chooses.
  std::uint32_t frames = protocol::version;   // The version of the coordinator's frames.
  std::vector<std::uint32_t> frames_heard;    // The versions of the worker's frames.
  std::string host = "";                      // The host for which the challenge is signed.
  bool has_its_key = true;                    // False: the coordinator signs with another key.
  std::optional<protocol::ErrorMessage> refusal;
  std::function<void()> answers_hello;  // Called in place of sending a challenge.
  std::map<std::uint32_t, int> paid;    // Number of payments, by task.
  std::vector<protocol::WorkerMessage> heard;
  std::vector<std::string> complaints;
  // Signed in the challenge in place of the genesis that the challenge names.
  std::optional<Hash> signs_genesis;
  int receipts = 0;
  int results = 0;
  std::vector<protocol::TaskResult> delivered;

 private:
  void on_text(const std::string& text) {
    on_traffic();
    frames_heard.push_back(protocol::read_head(text).value_or(protocol::FrameHead()).version);
    const auto message = protocol::decode_worker_message(text);
    if (!message) return complain(message.error().message);
    heard.push_back(*message);
    if (const auto* hello = std::get_if<protocol::Hello>(&*message)) return on_hello(*hello);
    if (const auto* prove = std::get_if<protocol::Prove>(&*message)) return on_prove(*prove);
    if (!welcomed_ && !std::holds_alternative<protocol::ErrorMessage>(*message))
      return complain("spoke before the welcome");
    if (const auto* resume = std::get_if<protocol::Resume>(&*message)) return on_resume(*resume);
    if (const auto* receipt = std::get_if<protocol::Receipt>(&*message))
      return on_receipt(*receipt);
    if (const auto* failed = std::get_if<protocol::TaskFailed>(&*message))
      held_.erase(failed->task.index);
  }
  void on_hello(const protocol::Hello& hello) {
    welcomed_ = false;
    awaiting_receipt_.clear();
    key_ = hello.key;
    if (refusal) return send(*refusal);
    if (answers_hello) return answers_hello();
    place_.worker = hello.nonce;
    nonce_.bytes[0] = static_cast<std::uint8_t>(nonce_.bytes[0] + 1);
    protocol::Challenge challenge{.version = version,
                                  .nonce = nonce_,
                                  .coordinator = identity_.public_key(),
                                  .genesis = place_.genesis,
                                  .program = place_.program};
    place_.coordinator = challenge.coordinator;
    place_.session = nonce_;
    challenge.signature =
        (has_its_key ? identity_ : stolen_)
            .sign_now(protocol::challenge_digest({.coordinator = challenge.coordinator,
                                                  .worker_nonce = hello.nonce,
                                                  .worker = hello.key,
                                                  .nonce = nonce_,
                                                  .genesis = signs_genesis.value_or(place_.genesis),
                                                  .program = place_.program,
                                                  .host = host}));
    send(challenge);
  }
  void on_prove(const protocol::Prove& prove) {
    if (!crypto::verify_now(key_, protocol::hello_digest(identity_.public_key(), nonce_, key_),
                            prove.signature))
      return complain("wrong signature in prove");
    welcomed_ = true;
    held_.clear();  // Cleared, because the worker must show its leases again.
    host_.blob_token = "token " + std::to_string(nonce_.bytes[0]);
    send(protocol::Welcome{
        .session = "s", .beat_ms = 1000, .blob_token = host_.blob_token, .balance = 0});
    // Leases that the worker does not show soon are given again.
    host_.after(std::chrono::milliseconds(20), [this, nonce = nonce_] {
      if (welcomed_ && nonce == nonce_) lease_open();
    });
  }
  static Hash proof_of(std::uint32_t index) {
    Hash proof;
    proof.bytes[0] = 0xee;
    proof.bytes[1] = static_cast<std::uint8_t>(index);
    return proof;
  }
  void on_resume(const protocol::Resume& resume) {
    protocol::Cancel cancel{.tasks = {}, .reason = "settled"};
    for (const auto& held : resume.held) {
      if (cancels_settled && held.proof != proof_of(held.task.index))
        complain("a held task without its lease's proof");
      open_.contains(held.task.index) ? static_cast<void>(held_.insert(held.task.index))
                                      : cancel.tasks.push_back(held);
    }
    if (cancels_settled && !cancel.tasks.empty()) send(cancel);
  }
  void on_binary(const ByteVector& bytes) {
    on_traffic();
    const auto frame = protocol::decode_frame(bytes);
    if (!frame) return complain(frame.error().message);
    const ByteSpan header = ByteSpan(bytes).subspan(4, read_le<std::uint32_t>(bytes));
    frames_heard.push_back(protocol::read_head(as_text(header))->version);
    if (!welcomed_) return complain("a result before the welcome");
    ++results;
    std::vector<ByteVector> outputs;
    std::size_t at = 0;
    for (const auto& part : frame->result.outputs) {
      if (part.in_frame) {
        const auto begin = frame->payload.begin() + static_cast<std::ptrdiff_t>(at);
        outputs.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(part.bytes));
        at += part.bytes;
      } else if (host_.blobs.contains(part.hash)) {
        outputs.push_back(host_.blobs[part.hash]);
      } else {
        return complain("an output that was not uploaded");
      }
      if (crypto::sha256(outputs.back()) != part.hash)
        return complain("an output with another hash");
    }
    if (proof::task_root(outputs) != frame->result.root)
      return complain("a root that is not the outputs'");
    delivered.push_back(frame->result);
    awaiting_receipt_[frame->result.task.index] = frame->result.root;
  }
  void on_receipt(const protocol::Receipt& receipt) {
    ++receipts;
    const Hash digest = proof::receipt_digest(place_, protocol::claims_of(receipt.items));
    if (!crypto::verify_now(key_, digest.span(), receipt.signature))
      return complain("wrong signature in a receipt");
    for (const auto& item : receipt.items) {
      const auto result = awaiting_receipt_.find(item.task.index);
      if (result == awaiting_receipt_.end() || result->second != item.root)
        return complain("a receipt for what was not sent");
      awaiting_receipt_.erase(result);
      if (open_.erase(item.task.index) > 0) ++paid[item.task.index];
      held_.erase(item.task.index);
      if (answer_verdicts)
        send(protocol::Verdict{.task = item.task,
                               .attempt = item.attempt,
                               .accepted = true,
                               .paid = 10,
                               .balance = 10,
                               .reason = ""});
    }
  }
  void complain(const std::string& what) { complaints.push_back(what); }

  FakeHost& host_;
  crypto::KeyPair identity_ = crypto::KeyPair::generate().value();
  const crypto::KeyPair stolen_ = crypto::KeyPair::generate().value();
  PublicKey key_;
  Hash nonce_;
  proof::ReceiptPlace place_{.genesis = crypto::sha256(as_bytes(std::string_view("a chain"))),
                             .program = {},
                             .coordinator = {},
                             .session = {},
                             .worker = {}};
  Hash manifest_;
  bool welcomed_ = false;
  std::set<std::uint32_t> open_;  // Tasks that are not paid yet.
  std::set<std::uint32_t> held_;  // Tasks that this worker is known to hold.
  std::map<std::uint32_t, Hash> awaiting_receipt_;
};

}  // namespace weft::worker
