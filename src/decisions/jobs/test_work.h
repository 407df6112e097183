// The job that tests run, y[i] = i, and the messages of its workers: honest workers, and workers
// that do one thing wrong.
#pragma once

#include <array>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/format.h"
#include "common/crypto/keys.h"
#include "common/crypto/sha256.h"
#include "common/proof/merkle.h"
#include "common/proof/receipt.h"
#include "common/protocol/codec.h"
#include "common/protocol/result_frame.h"

namespace weft::jobs {

// Returns the manifest of a job with `tasks` tasks of four elements each.
inline std::string count_manifest(std::uint32_t tasks, std::uint32_t replicas,
                                  std::string_view more = "", std::uint32_t budget = 100,
                                  double audit = 0) {
  return weft::format(
      R"({{"weft":1,"kind":"wgsl","name":"count","shader":{{"inline":"fn main() {{}}"}},"entry":"main",
    "bindings":[{{"binding":0,"role":"output","type":"u32","shape":[{0}],"split_dim":0}}],"dispatch":[{0},1,1],
    "split":{{"axis":"x","tasks":{1}}},"verify":{{"compare":"exact","replicas":{2},"audit":{5}}},"budget":{4}{3}}})",
      tasks * 4, tasks, replicas, more, budget, audit);
}

// Returns the manifest of a job with one task of several steps, whose only output has `numbers`
// numbers of 4 bytes and cannot be cut.
inline std::string steps_manifest(std::uint32_t steps, std::uint32_t numbers) {
  std::string list;
  for (std::uint32_t i = 0; i < steps; ++i)
    list += std::string(i == 0 ? "" : ",") + R"({"entry":"main","dispatch":[1]})";
  return weft::format(
      R"({{"weft":1,"kind":"wgsl","name":"steps","shader":{{"inline":"-"}},"steps":[{}],
    "bindings":[{{"binding":0,"role":"output","type":"u32","shape":[{}]}}],
    "verify":{{"compare":"exact","replicas":1}},"budget":1}})",
      list, numbers);
}

// The behaviour of a worker with a task that it is leased. Each field makes it deviate from an
// honest worker in one way.
struct Behaviour {
  bool wrong_byte = false;     // Sends wrong bytes, honestly hashed and signed.
  bool wrong_root = false;     // Names a root that is not that of the bytes.
  bool wrong_hash = false;     // Names a hash of other bytes.
  bool wrong_size = false;     // Sends one element too many.
  bool bad_signature = false;  // Signs a text other than its claims.
  bool doubled = false;        // Delivers twice, with two receipts.
  bool receipt_first = false;  // Sends its receipt before its result.
  bool silent = false;         // Takes leases and never answers.
  bool fails = false;          // Sends TaskFailed instead of a result.
  double gpu_seconds = 0.001;  // The time that it says a task took.
  bool opens_nothing = false;  // Never opens its commitment.
  bool opens_wrong = false;    // Opens its commitment with other roots.
  // The worker takes tasks from this index on and never answers them.
  std::uint32_t answers_below = std::numeric_limits<std::uint32_t>::max();
  // Computes the bytes of a task's one output, for other work than counting.
  std::function<ByteVector(const protocol::LeasedTask&)> compute = {};
  std::vector<protocol::ReceiptItem> beside = {};  // Further items that its receipts sign.
  // Stores outputs that do not travel in the frame; empty: outputs travel in the frame.
  std::function<void(ByteSpan)> put = {};
};

struct Handed {
  std::string frame;
  ByteVector bytes;
  protocol::Receipt receipt;
};
// The place for which the receipts of a session are signed. (These workers say hello with a nonce
// of zeros.)
inline proof::ReceiptPlace place_of(const protocol::Challenge& challenge) {
  return {.genesis = challenge.genesis,
          .program = challenge.program,
          .coordinator = challenge.coordinator,
          .session = challenge.nonce,
          .worker = {}};
}
// `part` is true if the lease is for a part of the task.
inline Handed hand_in(const Behaviour& behaviour, const crypto::KeyPair& key,
                      const protocol::Challenge& challenge, const JobId& job,
                      const protocol::LeasedTask& task, bool part = false) {
  const TaskId id{.job = job, .index = task.index};
  ByteVector bytes;
  if (behaviour.compute) {
    bytes = behaviour.compute(task);
  } else {
    for (std::uint32_t i = task.first; i < task.first + task.count + (behaviour.wrong_size ? 1 : 0);
         ++i)
      append_le(bytes, i);
  }
  if (behaviour.wrong_byte) bytes[0] ^= 0x80;
  protocol::ResultFrame frame;
  frame.result = {.task = id,
                  .attempt = task.attempt,
                  .root = proof::task_root(std::array{bytes}),
                  .outputs = {},
                  .gpu_seconds = behaviour.gpu_seconds,
                  .wall_seconds = 0.001};
  frame.result.outputs.push_back(
      {.hash = crypto::sha256(bytes), .bytes = bytes.size(), .in_frame = !behaviour.put});
  if (behaviour.wrong_hash) frame.result.outputs[0].hash.bytes[0] ^= 1;
  if (behaviour.wrong_root) frame.result.root.bytes[0] ^= 1;
  if (behaviour.put) {
    behaviour.put(bytes);
  } else {
    frame.payload = bytes;
  }

  Handed handed{.frame = std::string(as_text(protocol::encode_frame(frame).value())),
                .bytes = bytes,
                .receipt = {}};
  const proof::Claim claim{.task = id,
                           .attempt = task.attempt,
                           .root = frame.result.root,
                           .first = part ? task.first : 0,
                           .count = part ? task.count : 0};
  handed.receipt.items.push_back({.task = id,
                                  .attempt = task.attempt,
                                  .root = claim.root,
                                  .first = claim.first,
                                  .count = claim.count});
  std::vector claims{claim};
  for (const protocol::ReceiptItem& item : behaviour.beside) {
    claims.push_back({.task = item.task, .attempt = item.attempt, .root = item.root});
    handed.receipt.items.push_back(item);
  }
  auto digest = proof::receipt_digest(place_of(challenge), claims);
  if (behaviour.bad_signature) digest.bytes[0] ^= 1;
  handed.receipt.signature = key.sign_now(digest.span());
  return handed;
}

}  // namespace weft::jobs
