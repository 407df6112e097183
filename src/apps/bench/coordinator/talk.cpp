#include "apps/bench/coordinator/talk.h"

#include <array>
#include <fstream>
#include <iterator>
#include <utility>

#include "common/base/clock.h"
#include "common/base/format.h"
#include "common/crypto/ordered_id.h"
#include "common/crypto/sha256.h"
#include "common/proof/merkle.h"
#include "common/proof/receipt.h"
#include "common/protocol/codec.h"
#include "common/protocol/digests.h"
#include "common/protocol/receipt_claims.h"
#include "common/protocol/signing.h"
#include "common/records/records.h"

namespace weft::coordinator::bench {

Signature sign(const crypto::KeyPair& key, ByteSpan message, Signing signing) {
  return signing == Signing::real ? key.sign_now(message) : Signature{};
}

std::string manifest_of(const CountingJob& job) {
  return weft::format(
      R"({{"weft":1,"kind":"wgsl","name":"{}","shader":{{"inline":"struct Weft {{ origin: vec3u, extent: vec3u }} )"
      R"(@group(0) @binding(0) var<storage, read_write> y: array<u32>; @group(1) @binding(0) var<uniform> weft: Weft; )"
      R"(@compute @workgroup_size({}) fn main(@builtin(global_invocation_id) id: vec3u) {{ y[id.x] = weft.origin.x + id.x; }}"}},)"
      R"("entry":"main","bindings":[{{"binding":0,"role":"output","type":"u32","shape":[{}],"split_dim":0}}],)"
      R"("dispatch":[{},1,1],"split":{{"axis":"x","tasks":{}}},"verify":{{"compare":"exact","replicas":{}{}}},"budget":{}}})",
      job.name, slice_values, job.tasks * job.slices * slice_values, job.tasks * job.slices,
      job.tasks, job.replicas, job.agreement_alone ? R"(,"trust":"anyone")" : "", job.budget);
}

ByteVector counted(std::uint32_t first, std::uint32_t count) {
  ByteVector bytes;
  for (std::uint32_t i = first * slice_values; i < (first + count) * slice_values; ++i)
    append_le(bytes, i);
  return bytes;
}

std::string signed_headers(const crypto::KeyPair& wallet, const PublicKey& coordinator,
                           std::string_view method, std::string_view path, std::string_view body,
                           Signing signing) {
  const store::SubmitNonce nonce = crypto::ordered_id();
  const UnixMillis time = unix_now();
  const ByteVector digest = protocol::request_digest({.coordinator = coordinator,
                                                      .method = method,
                                                      .target = {.path = std::string(path)},
                                                      .body = crypto::sha256(as_bytes(body)),
                                                      .time = time,
                                                      .nonce = nonce});
  return weft::format(
      "weft-client: {}\r\nweft-nonce: {}\r\nweft-time: {}\r\nweft-signature: {}\r\n",
      wallet.public_key().text(), to_hex(nonce), time, sign(wallet, digest, signing).text());
}

std::string invitation_of(const protocol::Challenge& challenge) {
  std::ifstream invite(challenge.invite_file);
  return {std::istreambuf_iterator<char>(invite), {}};
}

std::string proof_text(const crypto::KeyPair& key, const protocol::Challenge& challenge,
                       std::string invitation) {
  return protocol::encode(
      protocol::Prove{.signature = key.sign_now(protocol::hello_digest(
                          challenge.coordinator, challenge.nonce, key.public_key())),
                      .invite = std::move(invitation)});
}

protocol::ResultFrame result_of(const TaskId& task, std::uint32_t attempt, ByteVector output,
                                const Timing& timing) {
  protocol::ResultFrame frame;
  frame.result = {.task = task,
                  .attempt = attempt,
                  .root = proof::task_root(std::array{output}),
                  .outputs = {},
                  .gpu_seconds = timing.gpu_seconds,
                  .wall_seconds = timing.wall_seconds};
  frame.result.outputs.push_back(
      {.hash = crypto::sha256(output), .bytes = output.size(), .in_frame = true});
  frame.payload = std::move(output);
  return frame;
}

protocol::Receipt receipt_of(const crypto::KeyPair& key, const protocol::Challenge& challenge,
                             std::vector<protocol::ReceiptItem> items, Signing signing) {
  const Hash digest = proof::receipt_digest({.genesis = challenge.genesis,
                                             .program = challenge.program,
                                             .coordinator = challenge.coordinator,
                                             .session = challenge.nonce,
                                             .worker = {}},
                                            protocol::claims_of(items));
  return {.items = std::move(items), .signature = sign(key, digest.span(), signing)};
}

}  // namespace weft::coordinator::bench
