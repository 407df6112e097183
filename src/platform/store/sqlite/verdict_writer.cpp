#include "platform/store/sqlite/verdict_writer.h"

#include <utility>
#include <vector>

#include "platform/store/sqlite/rows.h"
#include "platform/store/sqlite/statements.h"

namespace weft::store::sqlite {

const std::array<const char*, VerdictWriter::sql_count> VerdictWriter::texts = {
    "UPDATE tasks SET root = ?, outputs = ?, worker = ?, basis = ? WHERE job = ? AND task = ?",
    "INSERT OR REPLACE INTO rechecks VALUES (?, ?, ?, ?, ?, ?)",
    "DELETE FROM rechecks WHERE worker = ?",
    "INSERT OR REPLACE INTO corrections VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    "INSERT INTO checks (job, task, time, worker, root, by_worker, kind, outcome, ranges, wrong, "
    "reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    "INSERT OR IGNORE INTO evidence (worker, owner, job, task, attempt, time, root, statement, "
    "claims, signature, other_root, other_statement, other_claims, other_signature) "
    "SELECT ?1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? WHERE (SELECT count(*) FROM evidence WHERE "
    "worker = ?1) < ?15",
    "DELETE FROM evidence WHERE seq <= (SELECT max(seq) FROM evidence) - ?",
    // Rows are in the order of time. The limit keeps a batch from taking long.
    "DELETE FROM checks WHERE seq IN (SELECT seq FROM checks ORDER BY seq LIMIT 1000) AND time < ?",
};

Result<VerdictWriter> VerdictWriter::create(Connection& connection, JobNumbers& numbers) {
  WEFT_ASSIGN(auto statements, prepare_all(connection, texts));
  return VerdictWriter(numbers, std::move(statements));
}

Result<> VerdictWriter::write(const Batch& batch) {
  for (const Task& task : batch.corrected_tasks) {
    WEFT_ASSIGN(const std::int64_t job, numbers_.of(task.id.job));
    WEFT_OK(statements_[correct_task].run(task.root, pack(task.outputs), task.worker,
                                          static_cast<int>(task.basis), job, task.id.index));
  }
  for (const auto& [row, change] : batch.rechecks) {
    if (change == Change::remove) {
      WEFT_OK(statements_[remove_recheck].run(row.worker));
      continue;
    }
    const ByteSpan job = row.last ? row.last->job.span() : ByteSpan();
    WEFT_OK(statements_[put_recheck].run(row.worker, row.convicted, job,
                                         row.last ? row.last->index : 0U, row.tasks, row.taken));
  }
  for (const Correction& each : batch.corrections) {
    WEFT_ASSIGN(const std::int64_t job, numbers_.of(each.task.job));
    WEFT_OK(statements_[put_correction].run(
        job, each.task.index, each.worker, each.client, each.time, each.replaced ? 1 : 0, each.was,
        each.due, each.refunded, each.settled ? 1 : 0, each.reason, each.joined ? 1 : 0));
  }
  for (const Check& each : batch.checks) {
    WEFT_ASSIGN(const std::int64_t job, numbers_.of(each.task.job));
    std::vector<Check::Range> wrong;
    if (each.wrong) wrong.push_back(*each.wrong);
    WEFT_OK(statements_[insert_check].run(job, each.task.index, each.time, each.worker, each.root,
                                          each.by, static_cast<int>(each.kind),
                                          static_cast<int>(each.outcome),
                                          pack(std::span<const Check::Range>(each.ranges)),
                                          pack(std::span<const Check::Range>(wrong)), each.reason));
  }
  for (const Evidence& each : batch.evidence) WEFT_OK(write(each));
  for (const UnixMillis since : batch.checks_kept_since)
    WEFT_OK(statements_[forget_checks].run(since));
  return {};
}

Result<> VerdictWriter::write(const Evidence& evidence) {
  const auto& [root, statement, claims, signature] = evidence.first;
  const auto& other = evidence.second;
  WEFT_OK(statements_[insert_evidence].run(
      evidence.worker, evidence.owner, evidence.task.job, evidence.task.index, evidence.attempt,
      evidence.time, root, ByteSpan(statement), ByteSpan(claims), signature, other.root,
      ByteSpan(other.statement), ByteSpan(other.claims), other.signature,
      static_cast<std::int64_t>(evidence_of_worker_max)));
  return statements_[forget_evidence].run(static_cast<std::int64_t>(evidence_max));
}

}  // namespace weft::store::sqlite
