// One task's results with all that shows them to be what was computed and signed.
#include <algorithm>
#include <charconv>

#include "apps/coordinator/http/http.h"
#include "common/base/format.h"
#include "common/proof/merkle.h"

namespace weft::coordinator {

namespace {

namespace api = protocol::api;

Result<api::Proof> proof_of(store::Store& store, const JobId& id, std::uint32_t index) {
  WEFT_ASSIGN(const store::Job job, store.job(id));
  if (index >= job.tasks)
    return fail(ErrorCode::not_found, "Job {} has {} tasks and none of number {}.", id.text(),
                job.tasks, index);
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
  if (job.state == store::JobState::done && tasks.size() == job.tasks) {
    std::vector<Hash> roots;
    roots.reserve(tasks.size());
    for (const auto& task : tasks) roots.push_back(task.root);
    WEFT_ASSIGN(const auto path, proof::inclusion_path_of_roots(roots, index));
    for (const auto& sibling : path.siblings) proof.path.push_back(sibling.text());
    proof.job_root = job.root.text();
  }
  for (const auto& replica : replicas) {
    if (replica.task.index != index) continue;
    const auto receipt = std::ranges::find(receipts, replica.receipt, &store::Receipt::digest);
    if (receipt == receipts.end())
      return fail(ErrorCode::data_loss, "The receipt {} is not stored.", replica.receipt.text());
    proof.replicas.push_back({.worker = replica.worker.text(),
                              .attempt = replica.attempt,
                              .root = replica.root.text(),
                              .agreed = accepted != tasks.end() &&
                                        std::ranges::contains(accepted->agreeing, replica.worker),
                              .receipt = replica.receipt.text(),
                              .signature = receipt->signature.text(),
                              .gpu_seconds = replica.gpu_seconds,
                              .wall_seconds = replica.wall_seconds,
                              .arrived = replica.arrived});
  }
  return proof;
}

}  // namespace

void add_proof_routes(const HttpParts& parts) {
  parts.server.route(
      {.method = "GET",
       .pattern = "/v1/jobs/{}/tasks/{}/proof",
       .handle =
           [parts](const net::IncomingRequest& request, const net::Respond& respond) {
             const auto id = JobId::parse(request.parameters.at(0));
             if (!id) return respond(net::problem({ErrorCode::not_found, id.error().message}));
             std::uint32_t index = 0;
             const std::string& text = request.parameters.at(1);
             const auto [end, error] =
                 std::from_chars(text.data(), text.data() + text.size(), index);
             if (error != std::errc() || end != text.data() + text.size()) {
               return respond(net::problem(
                   {ErrorCode::not_found, weft::format("\"{}\" is not a task's number.", text)}));
             }
             post_or_refuse(parts.readers, respond,
                            [&store = parts.store, coordinator = parts.info.coordinator, respond,
                             id = *id, index] {
                              auto proof = proof_of(store, id, index);
                              if (!proof) return respond(net::problem(proof.error()));
                              proof->coordinator = coordinator;
                              respond(net::json_reply(200, api::to_json(*proof)));
                            });
           },
       .cost = 1});  // Reads all tasks of the job.
}

}  // namespace weft::coordinator
