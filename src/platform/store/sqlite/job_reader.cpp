#include "platform/store/sqlite/job_reader.h"

#include <limits>

#include "common/base/format.h"
#include "platform/store/sqlite/query.h"
#include "platform/store/sqlite/rows.h"

namespace weft::store::sqlite {

Result<Job> JobReader::job(const JobId& id) {
  WEFT_ASSIGN(auto found,
              rows<Job>(connection_, weft::format("SELECT {} FROM jobs WHERE id = ?", job_columns),
                        job_of, id));
  if (found.empty()) return fail(ErrorCode::not_found, "There is no job {}.", id.text());
  return std::move(found.front());
}

Result<std::vector<Task>> JobReader::tasks(const JobId& id) {
  WEFT_ASSIGN(const std::int64_t row, job_row(connection_, id));
  return rows<Task>(
      connection_, weft::format("SELECT {} FROM tasks WHERE job = ? ORDER BY task", task_columns),
      [&](const Statement& each) { return task_of(each, id); }, row);
}

Result<std::vector<Replica>> JobReader::replicas(const JobId& id) {
  WEFT_ASSIGN(const std::int64_t row, job_row(connection_, id));
  return rows<Replica>(
      connection_,
      weft::format("SELECT {} FROM replicas WHERE job = ? ORDER BY task, arrived, worker",
                   replica_columns),
      [&](const Statement& each) { return replica_of(each, id); }, row);
}

Result<std::vector<Receipt>> JobReader::receipts(const JobId& id) {
  WEFT_ASSIGN(const std::int64_t job, job_row(connection_, id));
  return rows<Receipt>(
      connection_,
      "SELECT digest, worker, session_nonce, signature, arrived, claims FROM receipts "
      "WHERE seq IN (SELECT receipt_seq FROM replicas WHERE job = ?) ORDER BY seq",
      [](const Statement& row) -> Result<Receipt> {
        Receipt receipt{.digest = {},
                        .worker = {},
                        .session_nonce = {},
                        .signature = {},
                        .arrived = row.integer(4)};
        WEFT_ASSIGN(receipt.digest, row.fixed<Hash>(0));
        WEFT_ASSIGN(receipt.worker, row.fixed<PublicKey>(1));
        WEFT_ASSIGN(receipt.session_nonce, row.fixed<Hash>(2));
        WEFT_ASSIGN(receipt.signature, row.fixed<Signature>(3));
        WEFT_ASSIGN(receipt.claims, row.fixed<Hash>(5));
        return receipt;
      },
      job);
}

Result<std::vector<Job>> JobReader::jobs(const Store::JobPage& page) {
  const UnixMillis before = page.before == 0 ? std::numeric_limits<UnixMillis>::max() : page.before;
  // A page includes all jobs of its last millisecond, because the next page begins before it.
  constexpr std::string_view query =
      "SELECT {0} FROM jobs WHERE {1} created < ?1 AND created >= coalesce((SELECT created FROM "
      "jobs "
      "WHERE {1} created < ?1 ORDER BY created DESC LIMIT 1 OFFSET ?2), 0) ORDER BY created DESC, "
      "seq DESC";
  if (page.count == 0) return std::vector<Job>();
  const std::int64_t last = page.count - 1;
  if (page.client) {
    return rows<Job>(connection_, weft::format(query, job_columns, "client = ?3 AND"), job_of,
                     before, last, *page.client);
  }
  return rows<Job>(connection_, weft::format(query, job_columns, ""), job_of, before, last);
}

Result<BlobOwners> JobReader::blob_owners(UnixMillis ended_since) {
  BlobOwners owners;
  // Each part of the UNION uses an index, so rows of jobs that ended long ago are not read.
  WEFT_ASSIGN(owners.jobs,
              rows<JobId>(
                  connection_,
                  "SELECT id FROM jobs WHERE state = 0 UNION SELECT id FROM jobs WHERE state <> 0 "
                  "AND ended >= ? AND manifest <> '' UNION SELECT id FROM jobs WHERE seq IN "
                  "(SELECT job FROM held_pays)",
                  [](const Statement& row) { return row.fixed<JobId>(0); }, ended_since));
  WEFT_ASSIGN(owners.blobs, rows<Hash>(connection_, "SELECT blob FROM checkpoints",
                                       [](const Statement& row) { return row.fixed<Hash>(0); }));
  for (const char* sql : {"SELECT file FROM models", "SELECT chunks FROM models"}) {
    WEFT_ASSIGN(const auto named, rows<Hash>(connection_, sql, [](const Statement& row) {
                  return Hash::parse(row.text(0));
                }));
    owners.blobs.insert(owners.blobs.end(), named.begin(), named.end());
  }
  return owners;
}

// Called for every submission, so its prepared statement is kept.
Result<std::optional<JobId>> JobReader::job_of_nonce(const PublicKey& client,
                                                     const SubmitNonce& nonce) {
  if (!find_nonce_) {
    WEFT_ASSIGN(find_nonce_, connection_.prepare("SELECT j.id FROM nonces n JOIN jobs j ON j.seq = "
                                                 "n.job WHERE n.client = ? AND n.nonce = ?"));
  }
  find_nonce_->start(client, ByteSpan(nonce));
  auto found = [&]() -> Result<std::optional<JobId>> {
    WEFT_ASSIGN(const bool there, find_nonce_->next());
    if (!there) return std::optional<JobId>();
    WEFT_ASSIGN(const JobId id, find_nonce_->fixed<JobId>(0));
    return std::optional(id);
  }();
  find_nonce_->finish();
  return found;
}

}  // namespace weft::store::sqlite
