#include "platform/store/sqlite/job_writer.h"

#include <utility>
#include <vector>

#include "common/base/format.h"
#include "platform/store/sqlite/rows.h"
#include "platform/store/sqlite/statements.h"

namespace weft::store::sqlite {

const std::array<const char*, JobWriter::sql_count> JobWriter::texts = {
    "INSERT INTO jobs (id, client, name, manifest, manifest_hash, tasks, budget, created, state, "
    "accepted, price, units, pace, reason, root, ended, "
    "joined, per_unit, price_quoted, price_max, price_max_named) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    "INSERT INTO nonces VALUES (?, ?, ?)",
    "INSERT INTO receipts (digest, worker, session_nonce, signature, arrived, claims) VALUES (?, "
    "?, "
    "?, ?, ?, ?)",
    "SELECT seq FROM receipts WHERE digest = ? ORDER BY seq DESC LIMIT 1",
    "INSERT INTO replicas VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    "INSERT INTO tasks VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    "UPDATE jobs SET accepted = accepted + ?, price = coalesce(?, price), units = coalesce(?, "
    "units), pace = coalesce(?, pace) WHERE seq = ?",
    "UPDATE jobs SET state = ?, reason = ?, root = ?, ended = ?, joined = ? WHERE seq = ?",
    "UPDATE jobs SET name = '', manifest = '', manifest_hash = zeroblob(32), reason = '', joined = "
    "?1 WHERE client = ?2 AND state <> 0 AND manifest <> ''",
};

Result<JobWriter> JobWriter::create(Connection& connection, JobNumbers& numbers) {
  WEFT_ASSIGN(auto statements, prepare_all(connection, texts));
  return JobWriter(connection, numbers, std::move(statements));
}

Result<> JobWriter::write(const Batch& batch) {
  for (const Job& job : batch.jobs) WEFT_OK(write(job));
  for (const Nonce& nonce : batch.nonces) WEFT_OK(write(nonce));
  for (const Receipt& receipt : batch.receipts) WEFT_OK(write(receipt));
  for (const Replica& replica : batch.replicas) WEFT_OK(write(replica));
  for (const Task& task : batch.tasks) WEFT_OK(write(task));
  for (const JobUpdate& update : batch.job_updates) WEFT_OK(write(update));
  return {};
}

Result<> JobWriter::write(const Job& job) {
  WEFT_OK(naming(
      statements_[insert_job].run(
          job.id, job.client, job.name, job.manifest, job.manifest_hash, job.tasks, job.budget,
          job.created, static_cast<int>(job.state), job.accepted, job.price, job.units,
          job.reference_seconds_per_workgroup, job.reason, job.root, job.ended, pack(job.outputs),
          job.per_unit, job.price_quoted, job.price_max, std::int64_t{job.price_max_named}),
      [&] { return weft::format("The job {} is stored already.", job.id.text()); }));
  numbers_.add(job.id, connection_.last_row());
  return {};
}

Result<> JobWriter::write(const Nonce& nonce) {
  WEFT_ASSIGN(const std::int64_t row, numbers_.of(nonce.job));
  return naming(statements_[insert_nonce].run(nonce.client, ByteSpan(nonce.nonce), row), [&] {
    return weft::format("The client {} has used this nonce already.", nonce.client.text());
  });
}

Result<> JobWriter::write(const Receipt& receipt) {
  if (receipt_rows_.contains(receipt.digest)) return {};
  WEFT_OK(statements_[insert_receipt].run(receipt.digest, receipt.worker, receipt.session_nonce,
                                          receipt.signature, receipt.arrived, receipt.claims));
  if (receipt_rows_.size() >= receipts_cached_max) receipt_rows_.clear();
  receipt_rows_[receipt.digest] = connection_.last_row();
  return {};
}

Result<> JobWriter::write(const Replica& replica) {
  WEFT_ASSIGN(const std::int64_t row, numbers_.of(replica.task.job));
  WEFT_ASSIGN(const std::int64_t receipt, receipt_row(replica.receipt));
  return naming(statements_[insert_replica].run(
                    row, replica.task.index, replica.worker, replica.attempt, replica.root,
                    pack(replica.outputs), replica.receipt, replica.gpu_seconds,
                    replica.wall_seconds, replica.arrived, receipt, pack(replica.steps)),
                [&] {
                  return weft::format("A replica of {} by {} is stored already.",
                                      replica.task.text(), replica.worker.text());
                });
}

Result<> JobWriter::write(const Task& task) {
  WEFT_ASSIGN(const std::int64_t row, numbers_.of(task.id.job));
  WEFT_OK(naming(statements_[insert_task].run(row, task.id.index, task.root, pack(task.outputs),
                                              task.worker, pack(task.agreeing), task.accepted,
                                              static_cast<int>(task.basis)),
                 [&] { return weft::format("The task {} is accepted already.", task.id.text()); }));
  ++changes_[row].accepted;
  return {};
}

Result<> JobWriter::write(const JobUpdate& update) {
  WEFT_ASSIGN(const std::int64_t row, numbers_.of(update.id));
  JobChange& change = changes_[row];
  if (update.price) change.price = &*update.price;
  if (update.end) change.end = &*update.end;
  return {};
}

Result<> JobWriter::flush() {
  for (const auto& [row, change] : std::exchange(changes_, {})) {
    Statement& progress = statements_[set_progress];
    if (const JobUpdate::Price* price = change.price) {
      WEFT_OK(progress.run(change.accepted, price->price, price->units,
                           price->reference_seconds_per_workgroup, row));
    } else if (change.accepted > 0) {
      WEFT_OK(progress.run(change.accepted, nullptr, nullptr, nullptr, row));
    }
    if (const JobUpdate::End* end = change.end)
      WEFT_OK(statements_[set_end].run(static_cast<int>(end->state), end->reason, end->root,
                                       end->ended, pack(end->outputs), row));
  }
  return {};
}

Result<> JobWriter::forget_client(const PublicKey& client) {
  return statements_[forget_jobs].run(pack(std::vector<OutputBlob>()), client);
}

void JobWriter::forget() {
  changes_.clear();
  receipt_rows_.clear();
}

Result<std::int64_t> JobWriter::receipt_row(const Hash& digest) {
  if (digest == Hash{}) return 0;
  if (const auto known = receipt_rows_.find(digest); known != receipt_rows_.end())
    return known->second;
  // There is no index by digest: the rows are searched from the latest on.
  Statement& find = statements_[find_receipt];
  find.start(digest);
  WEFT_ASSIGN(const bool found, find.next());
  const std::int64_t row = found ? find.integer(0) : 0;
  find.finish();
  return row;
}

}  // namespace weft::store::sqlite
