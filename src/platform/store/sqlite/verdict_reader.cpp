#include "platform/store/sqlite/verdict_reader.h"

#include <algorithm>
#include <span>

#include "common/base/format.h"
#include "platform/store/sqlite/query.h"
#include "platform/store/sqlite/rows.h"

namespace weft::store::sqlite {
namespace {

constexpr std::string_view correction_columns =
    "c.task, c.worker, c.time, c.replaced, c.was, c.due, c.refunded, c.settled, c.reason, j.id, "
    "c.client, c.joined";
Result<Correction> correction_of(const Statement& row) {
  WEFT_ASSIGN(const JobId job, row.fixed<JobId>(9));
  Correction made{.task = {.job = job, .index = static_cast<std::uint32_t>(row.integer(0))},
                  .worker = {},
                  .client = {},
                  .time = row.integer(2),
                  .replaced = row.integer(3) != 0,
                  .was = {},
                  .due = row.integer(5),
                  .refunded = row.integer(6),
                  .joined = row.integer(11) != 0,
                  .settled = row.integer(7) != 0,
                  .reason = row.text(8)};
  WEFT_ASSIGN(made.worker, row.fixed<PublicKey>(1));
  WEFT_ASSIGN(made.was, row.fixed<Hash>(4));
  WEFT_ASSIGN(made.client, row.fixed<PublicKey>(10));
  return made;
}

constexpr std::string_view check_columns =
    "c.task, c.time, c.worker, c.root, c.by_worker, c.kind, c.outcome, c.ranges, c.wrong, "
    "c.reason, j.id";
Result<Check> check_of(const Statement& row) {
  WEFT_ASSIGN(const JobId job, row.fixed<JobId>(10));
  Check made;
  made.task = {.job = job, .index = static_cast<std::uint32_t>(row.integer(0))};
  made.time = row.integer(1);
  WEFT_ASSIGN(made.worker, row.fixed<PublicKey>(2));
  WEFT_ASSIGN(made.root, row.fixed<Hash>(3));
  WEFT_ASSIGN(made.by, row.fixed<PublicKey>(4));
  const std::int64_t kind = row.integer(5);
  const std::int64_t outcome = row.integer(6);
  if (kind < 0 || kind > static_cast<int>(Check::Kind::recheck) || outcome < 0 ||
      outcome > static_cast<int>(Check::Outcome::failed))
    return fail(ErrorCode::data_loss,
                "A check of the task {} has an unknown kind or outcome: kind {}, outcome {}.",
                made.task.text(), kind, outcome);
  made.kind = static_cast<Check::Kind>(kind);
  made.outcome = static_cast<Check::Outcome>(outcome);
  WEFT_ASSIGN(made.ranges, unpack_ranges(row.blob(7)));
  WEFT_ASSIGN(const auto wrong, unpack_ranges(row.blob(8)));
  if (!wrong.empty()) made.wrong = wrong.front();
  made.reason = row.text(9);
  return made;
}

}  // namespace

Result<std::vector<Recheck>> VerdictReader::rechecks() {
  return rows<Recheck>(
      connection_,
      "SELECT worker, convicted, job, task, tasks, taken FROM rechecks ORDER BY worker",
      [](const Statement& row) -> Result<Recheck> {
        Recheck made;
        WEFT_ASSIGN(made.worker, row.fixed<PublicKey>(0));
        made.convicted = row.integer(1);
        if (!row.blob(2).empty()) {
          WEFT_ASSIGN(const JobId job, row.fixed<JobId>(2));
          made.last = {.job = job, .index = static_cast<std::uint32_t>(row.integer(3))};
        }
        made.tasks = static_cast<std::uint32_t>(row.integer(4));
        made.taken = row.integer(5);
        return made;
      });
}

Result<std::vector<Correction>> VerdictReader::open_corrections() {
  return rows<Correction>(
      connection_,
      weft::format("SELECT {} FROM corrections c INDEXED BY corrections_open JOIN jobs j ON j.seq "
                   "= c.job WHERE c.settled = 0 ORDER BY c.job, c.task",
                   correction_columns),
      correction_of);
}

// Convictions are rare, so all tasks of the day are read. Jobs that run or ended recently have an
// index.
Result<std::vector<Task>> VerdictReader::paid_tasks(const Store::PaidPage& page) {
  std::int64_t after = 0;
  if (page.after) {
    WEFT_ASSIGN(after, job_row(connection_, page.after->job));
  }
  WEFT_ASSIGN(
      Statement statement,
      connection_.prepare(weft::format(
          "SELECT {}, j.id FROM (SELECT seq FROM jobs WHERE state = 0 UNION SELECT seq FROM jobs "
          "WHERE state <> 0 AND ended >= ?1) chosen CROSS JOIN jobs j ON j.seq = chosen.seq CROSS "
          "JOIN "
          "tasks t ON t.job = j.seq WHERE j.seq >= ?2 AND (j.seq > ?2 OR t.task > ?3) AND "
          "t.accepted BETWEEN ?1 AND ?4 AND instr(t.agreeing, ?5) > 0 "
          "ORDER BY j.seq, t.task LIMIT ?6",
          "t.task, t.root, t.outputs, t.worker, t.agreeing, t.accepted, t.basis")));
  statement.start(page.since, after, page.after ? std::int64_t{page.after->index} : -1, page.until,
                  page.worker, page.count);
  WEFT_ASSIGN(auto found, all_of<Task>(statement, [](const Statement& row) -> Result<Task> {
                WEFT_ASSIGN(const JobId job, row.fixed<JobId>(7));
                return task_of(row, job);
              }));
  // instr() also finds the key's bytes across two keys of the list; such rows are removed.
  std::erase_if(
      found, [&](const Task& task) { return !std::ranges::contains(task.agreeing, page.worker); });
  return found;
}

Result<std::vector<Correction>> VerdictReader::corrections(const JobId& id) {
  WEFT_ASSIGN(const std::int64_t job, job_row(connection_, id));
  WEFT_ASSIGN(Statement statement,
              connection_.prepare(weft::format("SELECT {} FROM corrections c JOIN jobs j ON j.seq "
                                               "= c.job WHERE c.job = ? ORDER BY c.task",
                                               correction_columns)));
  statement.start(job);
  return all_of<Correction>(statement, correction_of);
}

Result<BasisCounts> VerdictReader::bases(const JobId& id) {
  WEFT_ASSIGN(const std::int64_t job, job_row(connection_, id));
  WEFT_ASSIGN(Statement statement, connection_.prepare("SELECT basis, count(*) FROM tasks WHERE "
                                                       "job = ? GROUP BY basis"));
  statement.start(job);
  BasisCounts counts{};
  for (;;) {
    WEFT_ASSIGN(const bool row, statement.next());
    if (!row) return counts;
    const std::int64_t basis = statement.integer(0);
    if (basis >= 0 && basis < static_cast<std::int64_t>(store::bases))
      counts[static_cast<std::size_t>(basis)] = static_cast<std::uint32_t>(statement.integer(1));
  }
}

Result<std::vector<Check>> VerdictReader::checks(const JobId& id, std::uint32_t count) {
  WEFT_ASSIGN(const std::int64_t job, job_row(connection_, id));
  WEFT_ASSIGN(Statement statement,
              connection_.prepare(weft::format("SELECT {} FROM checks c JOIN jobs j ON j.seq = "
                                               "c.job WHERE c.job = ? ORDER BY c.seq DESC LIMIT ?",
                                               check_columns)));
  statement.start(job, count);
  WEFT_ASSIGN(auto found, all_of<Check>(statement, check_of));
  std::ranges::reverse(found);
  return found;
}

Result<std::vector<Check>> VerdictReader::checks(const PublicKey& worker, std::uint32_t count) {
  WEFT_ASSIGN(Statement statement, connection_.prepare(weft::format(
                                       "SELECT {} FROM checks c JOIN jobs j ON j.seq = c.job "
                                       "WHERE c.worker = ? ORDER BY c.seq DESC LIMIT ?",
                                       check_columns)));
  statement.start(worker, count);
  WEFT_ASSIGN(auto found, all_of<Check>(statement, check_of));
  std::ranges::reverse(found);
  return found;
}

Result<std::vector<Evidence>> VerdictReader::evidence(std::size_t from, std::size_t count) {
  WEFT_ASSIGN(Statement statement,
              connection_.prepare(
                  "SELECT worker, owner, job, task, attempt, time, root, statement, claims, "
                  "signature, other_root, other_statement, other_claims, other_signature FROM "
                  "evidence ORDER BY seq LIMIT ? OFFSET ?"));
  statement.start(static_cast<std::int64_t>(count), static_cast<std::int64_t>(from));
  return all_of<Evidence>(statement, [](const Statement& row) -> Result<Evidence> {
    Evidence out;
    WEFT_ASSIGN(out.worker, row.fixed<PublicKey>(0));
    WEFT_ASSIGN(out.owner, row.fixed<PublicKey>(1));
    WEFT_ASSIGN(out.task.job, row.fixed<JobId>(2));
    out.task.index = static_cast<std::uint32_t>(row.integer(3));
    out.attempt = static_cast<std::uint32_t>(row.integer(4));
    out.time = row.integer(5);
    int column = 6;
    for (Evidence::Signed* each : {&out.first, &out.second}) {
      WEFT_ASSIGN(each->root, row.fixed<Hash>(column));
      each->statement.assign_range(row.blob(column + 1));
      each->claims.assign_range(row.blob(column + 2));
      WEFT_ASSIGN(each->signature, row.fixed<Signature>(column + 3));
      column += 4;
    }
    return out;
  });
}

}  // namespace weft::store::sqlite
