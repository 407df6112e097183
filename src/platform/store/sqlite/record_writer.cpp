#include "platform/store/sqlite/record_writer.h"

#include <string>
#include <utility>

#include "common/base/format.h"
#include "platform/store/sqlite/rows.h"
#include "platform/store/sqlite/statements.h"

namespace weft::store::sqlite {

const std::array<const char*, RecordWriter::sql_count> RecordWriter::texts = {
    "INSERT OR REPLACE INTO secrets VALUES (?, ?)",
    "INSERT INTO reputations VALUES (?, ?, ?) ON CONFLICT (worker) DO UPDATE SET accepted = "
    "excluded.accepted, refused = excluded.refused",
    "INSERT OR REPLACE INTO standings VALUES (?, ?, ?, ?, ?)",
    "INSERT OR REPLACE INTO client_shares VALUES (?, ?, ?, ?)",
    "DELETE FROM client_shares WHERE worker = ? AND client = ?",
    "INSERT OR REPLACE INTO mismatches VALUES (?, ?, ?, ?, ?, ?)",
    "DELETE FROM mismatches WHERE worker = ? AND client = ?",
    "INSERT OR REPLACE INTO weight_sums (worker, file, shared, sum) VALUES (?, ?, ?, ?)",
    "DELETE FROM weight_sums WHERE worker = ? AND file = ? AND shared = ?",
    "INSERT OR REPLACE INTO watches (worker, checks, mistakes, passes) VALUES (?, ?, ?, ?)",
    "INSERT OR REPLACE INTO faults VALUES (?, ?)",
    "DELETE FROM faults WHERE job = ?",
    "INSERT OR REPLACE INTO client_weights VALUES (?, ?, ?)",
    "INSERT INTO api_keys VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO "
    "UPDATE SET hash = excluded.hash, name = excluded.name, owner = excluded.owner, "
    "created = excluded.created, revoked = excluded.revoked, "
    "requests_per_min = excluded.requests_per_min, tokens_per_min = excluded.tokens_per_min, "
    "tokens_max = excluded.tokens_max, credits_max = excluded.credits_max, "
    "requests = excluded.requests, tokens = excluded.tokens, credits = excluded.credits",
    "DELETE FROM api_keys WHERE id = ?",
    "INSERT INTO devices (key, owner, role, name, added, revoked) VALUES (?, ?, ?, ?, ?, ?) ON "
    "CONFLICT (key) DO UPDATE SET role = excluded.role, name = excluded.name, revoked = "
    "excluded.revoked",
    "INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?)",
    "DELETE FROM checkpoints WHERE job = ? AND task = ? AND worker = ?",
    "INSERT OR REPLACE INTO presences VALUES (?, ?)",
    "DELETE FROM presences WHERE worker = ?",
    "INSERT OR REPLACE INTO models VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
    "?, ?, ?)",
    "DELETE FROM models WHERE name = ?",
    "INSERT OR REPLACE INTO paces VALUES (?, ?, ?, ?, ?)",
    "DELETE FROM paces WHERE work = ? AND worker = ?",
    "INSERT OR REPLACE INTO seasons VALUES (?, ?)",
    "INSERT OR REPLACE INTO held_pays VALUES (?, ?, ?, ?, ?, ?, ?)",
    "DELETE FROM held_pays WHERE job = ? AND task = ? AND worker = ?",
};

Result<RecordWriter> RecordWriter::create(Connection& connection, JobNumbers& numbers) {
  WEFT_ASSIGN(auto statements, prepare_all(connection, texts));
  return RecordWriter(numbers, std::move(statements));
}

Result<> RecordWriter::write(const Batch& batch) {
  for (const Secret& secret : batch.secrets)
    WEFT_OK(statements_[put_secret].run(secret.name, secret.value));
  WEFT_OK(write_trust(batch));
  WEFT_OK(write_owners(batch));
  WEFT_OK(write_workers(batch));
  WEFT_OK(write_market(batch));
  for (const std::string& id : batch.api_keys_removed) WEFT_OK(statements_[remove_api_key].run(id));
  return {};
}

// Writes the records about workers' results.
Result<> RecordWriter::write_trust(const Batch& batch) {
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
  for (const auto& [row, change] : batch.weight_sums) {
    const int shared = row.shared ? 1 : 0;
    WEFT_OK(change == Change::remove
                ? statements_[remove_weight_sum].run(row.worker, row.file, shared)
                : statements_[put_weight_sum].run(row.worker, row.file, shared, row.sum));
  }
  for (const Watch& each : batch.watches)
    WEFT_OK(statements_[put_watch].run(each.worker, each.checks, each.mistakes, each.passes));
  for (const auto& [row, change] : batch.faults) {
    WEFT_OK(change == Change::remove ? statements_[remove_faults].run(row.job)
                                     : statements_[put_faults].run(row.job, ByteSpan(row.state)));
  }
  return {};
}

Result<> RecordWriter::write_owners(const Batch& batch) {
  for (const ClientWeight& each : batch.client_weights)
    WEFT_OK(statements_[put_client_weight].run(each.client, each.weight, each.at));
  for (const ApiKey& each : batch.api_keys) WEFT_OK(write(each));
  for (const Device& each : batch.devices)
    WEFT_OK(statements_[put_device].run(each.key, each.owner, static_cast<int>(each.role),
                                        each.name, each.added, each.revoked));
  return {};
}

Result<> RecordWriter::write_workers(const Batch& batch) {
  for (const auto& each : batch.checkpoints) WEFT_OK(write(each));
  for (const auto& each : batch.presences) WEFT_OK(write(each));
  for (const auto& each : batch.models) WEFT_OK(write(each));
  for (const auto& each : batch.held_pays) WEFT_OK(write(each));
  return {};
}

// Writes the records on which quotes are based.
Result<> RecordWriter::write_market(const Batch& batch) {
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

Result<> RecordWriter::write(const ApiKey& key) {
  return naming(
      statements_[put_api_key].run(key.id, key.hash, key.name, key.owner, key.created, key.revoked,
                                   key.requests_per_min, key.tokens_per_min, key.tokens_max,
                                   key.credits_max, key.requests, key.tokens, key.credits),
      [&] {
        return weft::format("The secret of the API key {} is another key's already.", key.id);
      });
}

Result<> RecordWriter::write(const Changed<Checkpoint>& changed) {
  const Checkpoint& each = changed.row;
  WEFT_ASSIGN(const std::int64_t job, numbers_.of(each.task.job));
  if (changed.change == Change::remove)
    return statements_[remove_checkpoint].run(job, each.task.index, each.worker);
  return statements_[put_checkpoint].run(job, each.task.index, each.worker, each.blob, each.bytes,
                                         each.done, each.of);
}

Result<> RecordWriter::write(const Changed<HeldPay>& changed) {
  const HeldPay& each = changed.row;
  WEFT_ASSIGN(const std::int64_t job, numbers_.of(each.task.job));
  if (changed.change == Change::remove)
    return statements_[remove_held_pay].run(job, each.task.index, each.worker);
  return statements_[put_held_pay].run(job, each.task.index, each.worker, each.owner, each.free,
                                       each.granted, each.lost ? 1 : 0);
}

Result<> RecordWriter::write(const Changed<Presence>& changed) {
  if (changed.change == Change::remove) return statements_[remove_presence].run(changed.row.worker);
  return statements_[put_presence].run(changed.row.worker, pack(changed.row.hours));
}

Result<> RecordWriter::write(const Changed<Model>& changed) {
  const Model& model = changed.row;
  if (changed.change == Change::remove) return statements_[remove_model].run(model.name);
  return statements_[put_model].run(
      model.name, model.file, model.chunks, model.bytes, model.header_bytes, model.chunk_bytes,
      model.architecture, model.layers, model.embedding, model.vocabulary, model.context,
      model.layer_bytes, model.first_bytes, model.last_bytes, model.cache_bytes, model.shards_min,
      model.price, model.wire, model.created, model.owner, static_cast<int>(model.weights));
}

}  // namespace weft::store::sqlite
