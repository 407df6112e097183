// Proofs of one task: its results with everything that shows that they were computed and signed.
#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>

#include "apps/coordinator/http/access.h"
#include "common/base/format.h"
#include "common/crypto/sha256.h"
#include "common/proof/claim_tree.h"
#include "common/proof/merkle.h"

namespace weft::coordinator {

namespace {

namespace api = protocol::api;

// The claims of a receipt as the viewers of a job see them: claims for other jobs are digests.
Result<ByteVector> shown_claims(const store::Blobs& blobs, const store::Receipt& receipt,
                                const JobId& job) {
  WEFT_ASSIGN(const ByteVector statement, blobs.read(receipt.digest));
  WEFT_ASSIGN(const ByteVector claims, blobs.read(receipt.claims));
  WEFT_ASSIGN(const proof::KeptReceipt read, proof::read_receipt(statement, claims));
  return proof::claims_shown(read.claims, job);
}

// The hash of shown_claims(); empty for a receipt of the first format, whose statement contains the
// claims.
Result<std::string> name_of_claims(const store::Blobs& blobs, const store::Receipt& receipt,
                                   const JobId& job) {
  if (receipt.claims == Hash()) return std::string();
  auto shown = shown_claims(blobs, receipt, job);
  // The claims were deleted with the data of a job that ended, so nothing can be shown.
  if (!shown && shown.error().code == ErrorCode::not_found) return Hash().text();
  if (!shown) return pass(std::move(shown));
  return crypto::sha256(*shown).text();
}

Result<api::Proof> proof_of(store::Store& store, const store::Blobs& blobs, const store::Job& job,
                            std::uint32_t index, bool hides_undecided) {
  const JobId& id = job.id;
  if (index >= job.tasks)
    return fail(ErrorCode::not_found, "Job {} has {} tasks, numbered from 0; it has no task {}.",
                id.text(), job.tasks, index);
  WEFT_ASSIGN(const auto tasks, store.tasks(id));
  WEFT_ASSIGN(const auto replicas, store.replicas(id));
  WEFT_ASSIGN(const auto receipts, store.receipts(id));
  api::Proof proof{.job = id.text(),
                   .index = index,
                   .tasks = job.tasks,
                   .coordinator = {},
                   .root = {},
                   .job_root = {},
                   .path = {},
                   .outputs = {},
                   .replicas = {}};
  const auto accepted =
      std::ranges::find(tasks, index, [](const store::Task& task) { return task.id.index; });
  if (accepted != tasks.end()) {
    proof.root = accepted->root.text();
    for (const auto& output : accepted->outputs)
      proof.outputs.push_back({.hash = output.hash.text(), .bytes = output.bytes});
  }
  if (store::has_results(job.state) && tasks.size() == job.tasks) {
    std::vector<Hash> roots;
    roots.reserve(tasks.size());
    for (const auto& task : tasks) roots.push_back(task.root);
    WEFT_ASSIGN(const auto path, proof::inclusion_path_of_roots(roots, index));
    for (const auto& sibling : path.siblings) proof.path.push_back(sibling.text());
    proof.job_root = job.root.text();
  }
  // Roots and receipts are hidden before the task is decided, because other workers could copy
  // them.
  const bool hides = hides_undecided && accepted == tasks.end();
  for (const auto& replica : replicas) {
    if (hides || replica.task.index != index) continue;
    const auto receipt = std::ranges::find(receipts, replica.receipt, &store::Receipt::digest);
    if (receipt == receipts.end())
      return fail(ErrorCode::data_loss, "The receipt {} is not stored.", replica.receipt.text());
    WEFT_ASSIGN(std::string claims, name_of_claims(blobs, *receipt, id));
    proof.replicas.push_back({.worker = replica.worker.text(),
                              .attempt = replica.attempt,
                              .root = replica.root.text(),
                              // A corrected task has a result that no receipt signs, so no replica
                              // agrees with it.
                              .agreed = accepted != tasks.end() &&
                                        accepted->basis != store::Basis::corrected &&
                                        std::ranges::contains(accepted->agreeing, replica.worker),
                              .receipt = replica.receipt.text(),
                              .claims = std::move(claims),
                              .signature = receipt->signature.text(),
                              .gpu_seconds = replica.gpu_seconds,
                              .wall_seconds = replica.wall_seconds,
                              .arrived = replica.arrived});
  }
  return proof;
}

// True if the blob is an output of an accepted task or a statement of a receipt of the job. Blobs
// in the manifest do not count, because a manifest may name any blob. Claims of a receipt do not
// count, because some may be for other jobs.
Result<bool> belongs(store::Store& store, const JobId& id, const Hash& blob) {
  WEFT_ASSIGN(const auto tasks, store.tasks(id));
  for (const auto& task : tasks)
    if (std::ranges::contains(task.outputs, blob, &store::OutputBlob::hash)) return true;
  WEFT_ASSIGN(const auto receipts, store.receipts(id));
  return std::ranges::contains(receipts, blob, &store::Receipt::digest);
}

void show_proof(const HttpParts& parts, const net::IncomingRequest& request,
                const net::Respond& respond) {
  std::uint32_t index = 0;
  const std::string& text = request.parameters.at(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error != std::errc() || end != text.data() + text.size()) {
    return respond(
        net::problem({ErrorCode::not_found, weft::format("\"{}\" is not a task's number.", text)}));
  }
  with_job(
      parts, request, request.parameters.at(0), respond,
      [&store = parts.store, &blobs = parts.blobs, coordinator = parts.info.coordinator, respond,
       index, hides = parts.roots_when_decided](const Viewer&, const store::Job& row) {
        auto proof = proof_of(store, blobs, row, index, hides);
        if (!proof) return respond(net::problem(proof.error()));
        proof->coordinator = coordinator;
        respond(net::json_reply(200, api::to_json(*proof)));
      });
}

net::Reply claims_reply(store::Store& store, const store::Blobs& blobs, const JobId& job,
                        const Hash& wanted, const Hash& digest) {
  const auto receipts = store.receipts(job);
  if (!receipts) return net::problem(receipts.error());
  const auto receipt = std::ranges::find(*receipts, digest, &store::Receipt::digest);
  if (receipt == receipts->end() || receipt->claims == Hash())
    return net::problem(
        {ErrorCode::not_found,
         weft::format("Job {} has no receipt {} whose claims are stored in a blob of their own.",
                      job.text(), digest.text())});
  const auto shown = shown_claims(blobs, *receipt, job);
  if (!shown) return net::problem(shown.error());
  if (crypto::sha256(*shown) != wanted)
    return net::problem(
        {ErrorCode::not_found,
         weft::format(
             "The claims of receipt {} do not have the hash {}: the task's proof names the hash.",
             digest.text(), wanted.text())});
  return net::text_reply(200, std::string(as_text(*shown)), "application/octet-stream");
}

// Shows a blob of a job. With ?receipt=DIGEST it shows the claims of that receipt, by the hash that
// the task's proof names.
void show_blob(const HttpParts& parts, const net::IncomingRequest& request,
               const net::Respond& respond) {
  const auto hash = Hash::parse(request.parameters.at(1));
  if (!hash) return respond(net::problem(hash.error()));
  std::optional<Hash> receipt;
  if (const auto named = request.query.find("receipt"); named != request.query.end()) {
    const auto digest = Hash::parse(named->second);
    if (!digest) return respond(net::problem(digest.error()));
    receipt = *digest;
  }
  with_job(parts, request, request.parameters.at(0), respond,
           [&store = parts.store, &blobs = parts.blobs, request, respond, hash = *hash, receipt](
               const Viewer&, const store::Job& row) {
             if (receipt) return respond(claims_reply(store, blobs, row.id, hash, *receipt));
             const auto known = belongs(store, row.id, hash);
             if (!known) return respond(net::problem(known.error()));
             if (!*known)
               return respond(net::problem(
                   {ErrorCode::not_found,
                    weft::format("No accepted task and no receipt of job {} has the blob {}.",
                                 row.id.text(), hash.text())}));
             respond(blob_of_job(blobs, request, row, hash));
           });
}

}  // namespace

void add_task_routes(const HttpParts& parts,
                     std::initializer_list<std::pair<std::string, ShowTasks>> routes) {
  const auto kept = std::make_shared<const HttpParts>(parts);
  for (const auto& [pattern, show] : routes) {
    parts.server.route(
        {.method = "GET",
         .pattern = pattern,
         .handle = [kept, show](const net::IncomingRequest& request,
                                const net::Respond& respond) { show(*kept, request, respond); },
         .cost = 1});
  }
}

void add_proof_routes(const HttpParts& parts) {
  add_task_routes(
      parts, {{"/v1/jobs/{}/tasks/{}/proof", show_proof}, {"/v1/jobs/{}/blobs/{}", show_blob}});
}

}  // namespace weft::coordinator
