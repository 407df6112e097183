#include "platform/store/sqlite/writer.h"

#include <algorithm>
#include <utility>

#include "common/base/format.h"
#include "platform/store/sqlite/rows.h"

namespace weft::store::sqlite {
namespace {

constexpr std::size_t rows_cached_max = 100'000;

// Says what was there already; SQLite knows only the names of columns. `what` makes the sentence,
// when it is needed.
template <class What>
Result<> naming(Result<> result, What what) {
  if (result || result.error().code != ErrorCode::already_exists) return result;
  return fail(ErrorCode::already_exists, "{}", what());
}

// After these, memory and disk may differ. (A full disk is not one of them: SQLite takes
// everything of the work back, and the same work may be tried again.)
bool breaks(ErrorCode code) {
  return code == ErrorCode::data_loss || code == ErrorCode::internal ||
         code == ErrorCode::permission_denied;
}

}  // namespace

const std::array<const char*, Writer::sql_count> Writer::texts = {
    "BEGIN IMMEDIATE",
    "COMMIT",
    "ROLLBACK",
    "INSERT OR REPLACE INTO secrets VALUES (?, ?)",
    "INSERT INTO jobs (id, client, name, manifest, manifest_hash, tasks, budget, created, state, "
    "accepted, price, units, pace, reason, root, ended, "
    "joined, per_unit, price_quoted, price_max, price_max_named) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    "SELECT seq FROM jobs WHERE id = ?",
    "INSERT INTO nonces VALUES (?, ?, ?)",
    "INSERT INTO receipts (digest, worker, session_nonce, signature, arrived, claims) VALUES (?, "
    "?, "
    "?, ?, ?, ?)",
    "SELECT seq FROM receipts WHERE digest = ? ORDER BY seq DESC LIMIT 1",
    "INSERT INTO replicas VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    "INSERT INTO tasks VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    "UPDATE jobs SET accepted = accepted + ?, price = coalesce(?, price), units = coalesce(?, "
    "units), pace = coalesce(?, pace) WHERE seq = ?",
    "UPDATE jobs SET state = ?, reason = ?, root = ?, ended = ?, joined = ? WHERE seq = ?",
    "INSERT INTO transactions (key, job, what, time, movement) VALUES (?, ?, ?, ?, ?)",
    "INSERT INTO movements VALUES (?, ?, ?, ?, ?, ?)",
    "INSERT INTO reputations VALUES (?, ?, ?) ON CONFLICT (worker) DO UPDATE SET accepted = "
    "excluded.accepted, refused = excluded.refused",
    "INSERT OR REPLACE INTO standings VALUES (?, ?, ?, ?, ?)",
    "INSERT OR REPLACE INTO client_shares VALUES (?, ?, ?, ?)",
    "DELETE FROM client_shares WHERE worker = ? AND client = ?",
    "INSERT OR REPLACE INTO mismatches VALUES (?, ?, ?, ?, ?, ?)",
    "DELETE FROM mismatches WHERE worker = ? AND client = ?",
    "INSERT OR REPLACE INTO watches VALUES (?, ?, ?)",
    "INSERT OR REPLACE INTO faults VALUES (?, ?)",
    "DELETE FROM faults WHERE job = ?",
    "INSERT OR REPLACE INTO client_weights VALUES (?, ?, ?)",
    "INSERT INTO api_keys VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO "
    "UPDATE SET hash = excluded.hash, name = excluded.name, owner = excluded.owner, "
    "created = excluded.created, revoked = excluded.revoked, "
    "requests_per_min = excluded.requests_per_min, tokens_per_min = excluded.tokens_per_min, "
    "tokens_max = excluded.tokens_max, credits_max = excluded.credits_max, "
    "requests = excluded.requests, tokens = excluded.tokens, credits = excluded.credits",
    "INSERT INTO devices (key, owner, role, name, added, revoked) VALUES (?, ?, ?, ?, ?, ?) ON "
    "CONFLICT (key) DO UPDATE SET role = excluded.role, name = excluded.name, revoked = "
    "excluded.revoked",
    "INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?)",
    "DELETE FROM checkpoints WHERE job = ? AND task = ? AND worker = ?",
    "INSERT OR REPLACE INTO presences VALUES (?, ?)",
    "DELETE FROM presences WHERE worker = ?",
    "INSERT OR REPLACE INTO models VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
    "?, "
    "?)",
    "DELETE FROM models WHERE name = ?",
    "INSERT OR REPLACE INTO paces VALUES (?, ?, ?, ?, ?)",
    "DELETE FROM paces WHERE work = ? AND worker = ?",
    "INSERT OR REPLACE INTO seasons VALUES (?, ?)",
    "INSERT OR REPLACE INTO held_pays VALUES (?, ?, ?, ?, ?, ?, ?)",
    "DELETE FROM held_pays WHERE job = ? AND task = ? AND worker = ?",
    "DELETE FROM api_keys WHERE id = ?",
    "UPDATE jobs SET name = '', manifest = '', manifest_hash = zeroblob(32), reason = '', joined = "
    "?1 WHERE client = ?2 AND state <> 0 AND manifest <> ''",
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
    // The table is in the order of time; a bound, so that no batch waits long.
    "DELETE FROM checks WHERE seq IN (SELECT seq FROM checks ORDER BY seq LIMIT 1000) AND time < ?",
};

Result<Writer> Writer::create(Connection connection) {
  Writer writer(std::move(connection));
  for (std::size_t i = 0; i < sql_count; ++i) {
    WEFT_ASSIGN(writer.statements_[i], writer.connection_.prepare(texts[i]));
  }
  WEFT_ASSIGN(writer.accounts_, AccountRows::create(writer.connection_));
  WEFT_ASSIGN(Statement latest,
              writer.connection_.prepare("SELECT coalesce(max(number), 0) FROM movements"));
  latest.start();
  WEFT_ASSIGN(const bool row, latest.next());
  if (row) writer.movement_ = latest.integer(0);
  return writer;
}

Result<> Writer::commit(std::span<const Batch> batches, const std::function<Result<>()>& ready) {
  if (broken_) return std::unexpected(*broken_);
  if (std::ranges::all_of(batches, &Batch::empty)) return ready ? ready() : Result<>();
  WEFT_OK(statements_[begin_work].run());
  Result<> result = write(batches);
  const bool written = result.has_value();
  if (written && ready) result = ready();
  const bool is_ready = result.has_value();
  if (is_ready) result = statements_[commit_work].run();
  if (result) return result;

  (void)statements_[rollback_work].run();  // SQLite may have rolled back itself; then this says so.
  job_rows_.clear();
  job_changes_.clear();
  receipt_rows_.clear();
  accounts_.forget();
  const bool by_ready = written && !is_ready;  // Which says nothing of what is here.
  if (!by_ready && breaks(result.error().code)) {
    broken_ = result.error();
    broken_->message += " Nothing more is written until the coordinator is started again.";
  }
  return result;
}

Result<> Writer::write(std::span<const Batch> batches) {
  for (const Batch& batch : batches) WEFT_OK(write(batch));
  WEFT_OK(write_job_changes());
  for (const Batch& batch : batches) {
    for (const PublicKey& client : batch.clients_forgotten)
      WEFT_OK(statements_[forget_jobs].run(pack(std::vector<OutputBlob>()), client));
  }
  return accounts_.flush();
}

Result<> Writer::write(const Batch& batch) {
  for (const Secret& secret : batch.secrets)
    WEFT_OK(statements_[put_secret].run(secret.name, secret.value));
  for (const Job& job : batch.jobs) WEFT_OK(write(job));
  for (const Nonce& nonce : batch.nonces) WEFT_OK(write(nonce));
  for (const Receipt& receipt : batch.receipts) WEFT_OK(write(receipt));
  for (const Replica& replica : batch.replicas) WEFT_OK(write(replica));
  for (const Task& task : batch.tasks) WEFT_OK(write(task));
  for (const JobUpdate& update : batch.job_updates) WEFT_OK(write(update));
  for (const Transaction& transaction : batch.transactions) WEFT_OK(write(transaction));
  return write_records(batch);
}

// What stands by itself, beside jobs and money.
Result<> Writer::write_records(const Batch& batch) {
  for (const Reputation& each : batch.reputations)
    WEFT_OK(statements_[put_reputation].run(each.worker, each.accepted, each.refused));
  for (const Standing& each : batch.standings)
    WEFT_OK(statements_[put_standing].run(each.worker, each.verified, each.updated, each.wrong,
                                          each.suspended_until));
  for (const auto& [row, change] : batch.client_shares) {
    WEFT_OK(change == Change::remove
                ? statements_[remove_client_share].run(row.worker, row.client)
                : statements_[put_client_share].run(row.worker, row.client, row.weight, row.at));
  }
  for (const auto& [row, change] : batch.mismatches) {
    WEFT_OK(change == Change::remove
                ? statements_[remove_mismatch].run(row.worker, row.client)
                : statements_[put_mismatch].run(row.worker, row.client, row.task.job,
                                                row.task.index, row.at, row.penalty));
  }
  for (const Watch& each : batch.watches)
    WEFT_OK(statements_[put_watch].run(each.worker, each.checks, each.mistakes));
  for (const auto& [row, change] : batch.faults) {
    WEFT_OK(change == Change::remove ? statements_[remove_faults].run(row.job)
                                     : statements_[put_faults].run(row.job, ByteSpan(row.state)));
  }
  for (const ClientWeight& each : batch.client_weights)
    WEFT_OK(statements_[put_client_weight].run(each.client, each.weight, each.at));
  for (const ApiKey& each : batch.api_keys) WEFT_OK(write(each));
  for (const Device& each : batch.devices)
    WEFT_OK(statements_[put_device].run(each.key, each.owner, static_cast<int>(each.role),
                                        each.name, each.added, each.revoked));
  for (const auto& each : batch.checkpoints) WEFT_OK(write(each));
  for (const auto& each : batch.presences) WEFT_OK(write(each));
  for (const auto& each : batch.models) WEFT_OK(write(each));
  for (const auto& each : batch.held_pays) WEFT_OK(write(each));
  WEFT_OK(write_market(batch));
  for (const std::string& id : batch.api_keys_removed) WEFT_OK(statements_[remove_api_key].run(id));
  return write_verdicts(batch);
}

// What quotes are made of.
Result<> Writer::write_market(const Batch& batch) {
  for (const auto& [row, change] : batch.paces) {
    WEFT_OK(change == Change::remove
                ? statements_[remove_pace].run(row.work, row.worker)
                : statements_[put_pace].run(row.work, row.worker, row.seconds,
                                            static_cast<int>(row.alone), row.time));
  }
  for (const Season& each : batch.seasons)
    WEFT_OK(statements_[put_season].run(each.hour, each.busy));
  return {};
}

Result<> Writer::write_verdicts(const Batch& batch) {
  for (const Task& task : batch.corrected_tasks) {
    WEFT_ASSIGN(const std::int64_t job, job_row(task.id.job));
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
    WEFT_ASSIGN(const std::int64_t job, job_row(each.task.job));
    WEFT_OK(statements_[put_correction].run(
        job, each.task.index, each.worker, each.client, each.time, each.replaced ? 1 : 0, each.was,
        each.due, each.refunded, each.settled ? 1 : 0, each.reason, each.joined ? 1 : 0));
  }
  for (const Check& each : batch.checks) {
    WEFT_ASSIGN(const std::int64_t job, job_row(each.task.job));
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

Result<> Writer::write(const ApiKey& key) {
  return naming(
      statements_[put_api_key].run(key.id, key.hash, key.name, key.owner, key.created, key.revoked,
                                   key.requests_per_min, key.tokens_per_min, key.tokens_max,
                                   key.credits_max, key.requests, key.tokens, key.credits),
      [&] {
        return weft::format("The secret of the API key {} is another key's already.", key.id);
      });
}

Result<> Writer::write(const Changed<Checkpoint>& changed) {
  const Checkpoint& each = changed.row;
  WEFT_ASSIGN(const std::int64_t job, job_row(each.task.job));
  if (changed.change == Change::remove)
    return statements_[remove_checkpoint].run(job, each.task.index, each.worker);
  return statements_[put_checkpoint].run(job, each.task.index, each.worker, each.blob, each.bytes,
                                         each.done, each.of);
}

Result<> Writer::write(const Changed<HeldPay>& changed) {
  const HeldPay& each = changed.row;
  WEFT_ASSIGN(const std::int64_t job, job_row(each.task.job));
  if (changed.change == Change::remove)
    return statements_[remove_held_pay].run(job, each.task.index, each.worker);
  return statements_[put_held_pay].run(job, each.task.index, each.worker, each.owner, each.free,
                                       each.granted, each.lost ? 1 : 0);
}

Result<> Writer::write(const Changed<Presence>& changed) {
  if (changed.change == Change::remove) return statements_[remove_presence].run(changed.row.worker);
  return statements_[put_presence].run(changed.row.worker, pack(changed.row.hours));
}

Result<> Writer::write(const Changed<Model>& changed) {
  const Model& model = changed.row;
  if (changed.change == Change::remove) return statements_[remove_model].run(model.name);
  return statements_[put_model].run(
      model.name, model.file, model.chunks, model.bytes, model.header_bytes, model.chunk_bytes,
      model.architecture, model.layers, model.embedding, model.vocabulary, model.context,
      model.layer_bytes, model.first_bytes, model.last_bytes, model.cache_bytes, model.shards_min,
      model.price, model.wire, model.created, model.owner);
}

Result<> Writer::write(const Job& job) {
  WEFT_OK(naming(
      statements_[insert_job].run(
          job.id, job.client, job.name, job.manifest, job.manifest_hash, job.tasks, job.budget,
          job.created, static_cast<int>(job.state), job.accepted, job.price, job.units,
          job.reference_seconds_per_workgroup, job.reason, job.root, job.ended, pack(job.outputs),
          job.per_unit, job.price_quoted, job.price_max, std::int64_t{job.price_max_named}),
      [&] { return weft::format("The job {} is stored already.", job.id.text()); }));
  job_rows_[job.id] = connection_.last_row();
  return {};
}

Result<> Writer::write(const Nonce& nonce) {
  WEFT_ASSIGN(const std::int64_t row, job_row(nonce.job));
  return naming(statements_[insert_nonce].run(nonce.client, ByteSpan(nonce.nonce), row), [&] {
    return weft::format("The client {} has used this nonce already.", nonce.client.text());
  });
}

Result<> Writer::write(const Evidence& evidence) {
  const auto& [root, statement, claims, signature] = evidence.first;
  const auto& other = evidence.second;
  WEFT_OK(statements_[insert_evidence].run(
      evidence.worker, evidence.owner, evidence.task.job, evidence.task.index, evidence.attempt,
      evidence.time, root, ByteSpan(statement), ByteSpan(claims), signature, other.root,
      ByteSpan(other.statement), ByteSpan(other.claims), other.signature,
      static_cast<std::int64_t>(evidence_of_worker_max)));
  return statements_[forget_evidence].run(static_cast<std::int64_t>(evidence_max));
}

Result<> Writer::write(const Receipt& receipt) {
  if (receipt_rows_.contains(receipt.digest)) return {};
  WEFT_OK(statements_[insert_receipt].run(receipt.digest, receipt.worker, receipt.session_nonce,
                                          receipt.signature, receipt.arrived, receipt.claims));
  if (receipt_rows_.size() >= rows_cached_max) receipt_rows_.clear();
  receipt_rows_[receipt.digest] = connection_.last_row();
  return {};
}

Result<> Writer::write(const Replica& replica) {
  WEFT_ASSIGN(const std::int64_t row, job_row(replica.task.job));
  WEFT_ASSIGN(const std::int64_t receipt, receipt_row(replica.receipt));
  return naming(statements_[insert_replica].run(
                    row, replica.task.index, replica.worker, replica.attempt, replica.root,
                    pack(replica.outputs), replica.receipt, replica.gpu_seconds,
                    replica.wall_seconds, replica.arrived, receipt),
                [&] {
                  return weft::format("A replica of {} by {} is stored already.",
                                      replica.task.text(), replica.worker.text());
                });
}

Result<> Writer::write(const Task& task) {
  WEFT_ASSIGN(const std::int64_t row, job_row(task.id.job));
  WEFT_OK(naming(statements_[insert_task].run(row, task.id.index, task.root, pack(task.outputs),
                                              task.worker, pack(task.agreeing), task.accepted,
                                              static_cast<int>(task.basis)),
                 [&] { return weft::format("The task {} is accepted already.", task.id.text()); }));
  ++job_changes_[row].accepted;
  return {};
}

Result<> Writer::write(const JobUpdate& update) {
  WEFT_ASSIGN(const std::int64_t row, job_row(update.id));
  JobChange& change = job_changes_[row];
  if (update.price) change.price = &*update.price;
  if (update.end) change.end = &*update.end;
  return {};
}

Result<> Writer::write_job_changes() {
  for (const auto& [row, change] : std::exchange(job_changes_, {})) {
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

Result<> Writer::write(const Transaction& transaction) {
  const ledger::Transaction& what = transaction.transaction;
  std::vector<ledger::Entry> changes;  // One an account, in the order in which they first come.
  MicroCredits total = 0;
  for (const ledger::Entry& entry : what.entries) {
    const auto known = std::ranges::find(changes, entry.account, &ledger::Entry::account);
    if (known == changes.end()) {
      changes.push_back(entry);
    } else {
      known->amount += entry.amount;
    }
    total += entry.amount;
  }
  if (total != 0)
    return fail(ErrorCode::invalid_argument,
                "The entries of the transaction {} sum to {}, not to 0.", what.key, total);

  const auto insert = [&](const auto& job) {
    return naming(statements_[insert_transaction].run(what.key, job, what.what, transaction.time,
                                                      movement_ + 1),
                  [&] { return weft::format("The transaction {} is stored already.", what.key); });
  };
  if (what.job) {
    WEFT_ASSIGN(const std::int64_t job, job_row(*what.job));
    WEFT_OK(insert(job));
  } else {
    WEFT_OK(insert(nullptr));
  }
  const std::int64_t row = connection_.last_row();
  for (const ledger::Entry& change : changes) {
    const std::int64_t number = ++movement_;
    auto moved = accounts_.move(change.account, change.amount, number);
    if (!moved) return pass(std::move(moved), "while writing the transaction {}", what.key);
    WEFT_OK(statements_[insert_movement].run(number, moved->account, row, change.amount,
                                             moved->balance, moved->previous));
  }
  return {};
}

Result<std::int64_t> Writer::receipt_row(const Hash& digest) {
  if (digest == Hash{}) return 0;
  if (const auto known = receipt_rows_.find(digest); known != receipt_rows_.end())
    return known->second;
  // No index: one that was stored long before its replica is looked for from the latest on.
  Statement& find = statements_[find_receipt];
  find.start(digest);
  WEFT_ASSIGN(const bool found, find.next());
  const std::int64_t row = found ? find.integer(0) : 0;
  find.finish();
  return row;
}

Result<std::int64_t> Writer::job_row(const JobId& job) {
  if (const auto known = job_rows_.find(job); known != job_rows_.end()) return known->second;
  Statement& find = statements_[find_job];
  find.start(job);
  WEFT_ASSIGN(const bool found, find.next());
  const std::int64_t row = found ? find.integer(0) : 0;
  find.finish();
  if (!found) return fail(ErrorCode::not_found, "The job {} is not stored.", job.text());
  if (job_rows_.size() >= rows_cached_max) job_rows_.clear();
  job_rows_[job] = row;
  return row;
}

}  // namespace weft::store::sqlite
