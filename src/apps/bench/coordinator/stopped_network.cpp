#include "apps/bench/coordinator/stopped_network.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "common/base/format.h"
#include "common/crypto/keys.h"
#include "common/crypto/sha256.h"
#include "common/manifest/manifest.h"
#include "common/proof/merkle.h"
#include "platform/store/blobs.h"
#include "platform/store/sqlite/sqlite_store.h"

namespace weft::coordinator::bench {
namespace {

constexpr std::uint32_t jobs_in_a_commit = 250;
constexpr MicroCredits task_price = 1'000;
constexpr UnixMillis begun = 1'760'000'000'000;

class Writer {
 public:
  Writer(store::Store& store, store::Blobs& blobs, const StoppedNetwork& network)
      : store_(store), blobs_(blobs), network_(network) {
    crypto::random_bytes(client_.bytes);
    workers_.resize(std::max(network.workers, 2U));
    for (PublicKey& worker : workers_) crypto::random_bytes(worker.bytes);
  }

  Result<> write() {
    WEFT_OK(pay(ledger::grant(client(), task_price * (MicroCredits{network_.pending} +
                                                      network_.running + network_.settled))));
    for (std::uint32_t job = 0; job < network_.jobs; ++job) {
      WEFT_OK(write_job(job));
      if (job % jobs_in_a_commit == jobs_in_a_commit - 1) WEFT_OK(commit());
    }
    for (const auto& [worker, accepted] : accepted_)
      batch_.reputations.push_back({.worker = worker, .accepted = accepted, .refused = 0});
    return commit();
  }

 private:
  // The part of `total` that belongs to the job with index `job`.
  [[nodiscard]] std::uint32_t share(std::uint32_t total, std::uint32_t job) const {
    return total / network_.jobs + (job < total % network_.jobs ? 1U : 0U);
  }

  Result<> write_job(std::uint32_t number) {
    const std::uint32_t settled = share(network_.settled, number);
    const std::uint32_t running = share(network_.running, number);
    store::Job job;
    crypto::random_bytes(job.id.bytes);
    job.tasks = settled + running + share(network_.pending, number);
    WEFT_ASSIGN(const manifest::Manifest manifest,
                manifest::parse(manifest_text(number, job.tasks)));
    job.client = client_;
    job.name = manifest.name;
    job.manifest = manifest::to_json(manifest);
    WEFT_ASSIGN(job.manifest_hash, blobs_.add(as_bytes(job.manifest)));
    job.budget = task_price * job.tasks;
    job.price = job.budget;
    job.units = 1;
    job.reference_seconds_per_workgroup = 1e-6;
    job.created = begun + number;
    batch_.jobs.push_back(job);
    store::SubmitNonce nonce{};
    crypto::random_bytes(nonce);
    batch_.nonces.push_back({.client = client_, .nonce = nonce, .job = job.id});
    WEFT_OK(pay(ledger::open_escrow(job.id, client(), job.budget, {.granted = job.budget})));
    for (std::uint32_t task = 0; task < settled + running; ++task)
      WEFT_OK(write_task({.job = job.id, .index = task}, task < settled));
    return {};
  }

  Result<> write_task(const TaskId& task, bool settled) {
    const Hash name = crypto::sha256(as_bytes(task.text()));
    ByteVector output(name.bytes.begin(), name.bytes.begin() + 16);
    const Hash root = proof::task_root(std::array{output});
    WEFT_ASSIGN(const Hash blob, blobs_.add(output));
    const std::vector<store::OutputBlob> outputs = {{.hash = blob, .bytes = output.size()}};
    std::vector<PublicKey> delivered;
    for (std::uint32_t i = 0; i < (settled ? 2U : 1U); ++i) {
      const PublicKey& worker = workers_[next_worker_++ % workers_.size()];
      store::Receipt receipt{
          .digest = {}, .worker = worker, .session_nonce = {}, .signature = {}, .arrived = begun};
      crypto::random_bytes(receipt.digest.bytes);
      batch_.replicas.push_back({.task = task,
                                 .worker = worker,
                                 .attempt = i + 1,
                                 .root = root,
                                 .outputs = outputs,
                                 .receipt = receipt.digest,
                                 .gpu_seconds = 1e-3,
                                 .wall_seconds = 1e-3,
                                 .arrived = begun});
      batch_.receipts.push_back(receipt);
      delivered.push_back(worker);
    }
    if (!settled) return {};
    std::ranges::sort(delivered);
    for (const PublicKey& worker : delivered) ++accepted_[worker];
    batch_.tasks.push_back({.id = task,
                            .root = root,
                            .outputs = outputs,
                            .worker = delivered.front(),
                            .agreeing = delivered,
                            .accepted = begun});
    std::vector<OwnerId> owners;
    for (const PublicKey& worker : delivered) owners.push_back(OwnerId::of_first(worker));
    return pay(
        ledger::pay_task({.task = task, .client = client(), .price = task_price, .replicas = 2},
                         owners, {.granted = task_price}));
  }

  OwnerId client() const { return OwnerId::of_first(client_); }
  Result<> pay(ledger::Transaction transaction) {
    batch_.transactions.push_back({.transaction = std::move(transaction), .time = begun});
    return {};
  }

  Result<> commit() {
    WEFT_OK(blobs_.sync());
    return store_.commit(std::exchange(batch_, {}));
  }

  static std::string manifest_text(std::uint32_t number, std::uint32_t tasks) {
    return weft::format(
        R"({{"weft":1,"kind":"wgsl","name":"stopped-{2}","shader":{{"inline":"@group(0) @binding(0) var<storage,)"
        R"(read_write> y: array<u32>; @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3u) {{ y[id.x] = id.x; }}"}},)"
        R"("entry":"main","bindings":[{{"binding":0,"role":"output","type":"u32","shape":[{0}],"split_dim":0}}],)"
        R"("dispatch":[{1},1,1],"split":{{"axis":"x","tasks":{1}}},"verify":{{"compare":"exact","replicas":2}},"budget":1}})",
        tasks * 4, tasks, number);
  }

  store::Store& store_;
  store::Blobs& blobs_;
  const StoppedNetwork& network_;
  PublicKey client_;
  std::vector<PublicKey> workers_;
  std::size_t next_worker_ = 0;
  std::map<PublicKey, std::uint64_t> accepted_;
  store::Batch batch_;
};

}  // namespace

Result<> leave_behind(const std::filesystem::path& data, const StoppedNetwork& network) {
  if (network.jobs == 0 || network.jobs > network.pending + network.running)
    return fail(ErrorCode::invalid_argument,
                "{} jobs cannot share {} open tasks: there must be at least one job, and an open "
                "task for each.",
                network.jobs, network.pending + network.running);
  WEFT_ASSIGN(
      const auto store,
      store::sqlite::open(data / "weft.db", {.synchronous = false, .vfs = {}, .pages_max = 0}));
  WEFT_ASSIGN(const auto blobs, store::Blobs::open(data / "blobs", {}));
  return Writer(*store, *blobs, network).write();
}

}  // namespace weft::coordinator::bench
