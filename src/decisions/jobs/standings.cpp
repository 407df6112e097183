#include "decisions/jobs/standings.h"

#include <utility>

#include "common/base/log.h"

namespace weft::jobs {

void Standings::restore(const store::Loaded& loaded) {
  for (const auto& row : loaded.standings) {
    tables_.trust.standing().book().restore(row.worker, {.verified = row.verified,
                                                         .updated = row.updated,
                                                         .wrong = row.wrong,
                                                         .suspended_until = row.suspended_until});
    if (row.suspended_until > 0) tables_.book.bar(row.worker, row.suspended_until);
  }
  for (const auto& row : loaded.client_shares)
    tables_.trust.standing().evidence().restore(
        row.worker, {.client = row.client, .weight = row.weight, .at = row.at});
  for (const auto& row : loaded.watches)
    tables_.trust.standing().restore({.worker = row.worker,
                                      .checks = row.checks,
                                      .mistakes = row.mistakes,
                                      .passes = row.passes});
  for (const auto& row : loaded.mismatches)
    tables_.trust.convictions().restore_mismatch(
        row.worker, {.client = row.client, .task = row.task, .at = row.at, .penalty = row.penalty});
}

void Standings::store(Moment now) {
  for (const PublicKey& worker : tables_.trust.standing().book().take_moved()) {
    sessions_.refresh(worker, now);
    const trust::Record record = tables_.trust.book().record(worker);
    tables_.outbox.batch().standings.push_back({.worker = worker,
                                                .verified = record.verified,
                                                .updated = record.updated,
                                                .wrong = record.wrong,
                                                .suspended_until = record.suspended_until});
    for (const auto& share : tables_.trust.standing().evidence().take_changed(worker))
      tables_.outbox.batch().client_shares.push_back(
          {.row =
               {.worker = worker, .client = share.client, .weight = share.weight, .at = share.at},
           .change = share.forgotten ? store::Change::remove : store::Change::put});
  }
  for (const auto& [worker, row, forgotten] :
       tables_.trust.standing().evidence().take_changed_mismatches())
    tables_.outbox.batch().mismatches.push_back(
        {.row = {.worker = worker,
                 .client = row.client,
                 .task = row.task,
                 .at = row.at,
                 .penalty = row.penalty},
         .change = forgotten ? store::Change::remove : store::Change::put});
  for (const auto& watch : tables_.trust.standing().take_changed_watches())
    tables_.outbox.batch().watches.push_back({.worker = watch.worker,
                                              .checks = watch.checks,
                                              .mistakes = watch.mistakes,
                                              .passes = watch.passes});
  for (auto& [job, state] : tables_.trust.take_changed_faults()) {
    const bool is_kept = state.has_value();
    tables_.outbox.batch().faults.push_back(
        {.row = {.job = job, .state = is_kept ? std::move(*state) : ByteVector{}},
         .change = is_kept ? store::Change::put : store::Change::remove});
  }
}

void Standings::pardon(const Pardon& wanted, Moment now, Answer<StakeView> answer) {
  const auto reply = tables_.outbox.replier(std::move(answer));
  constexpr UnixMillis ahead_max = 10 * 60 * 1000;
  const PublicKey& worker = wanted.worker;
  if (!tables_.trust.book().suspended(worker, now.unix))
    return reply(fail(ErrorCode::not_found, "The worker {} is not suspended.", worker.text()));
  if (wanted.at > now.unix + ahead_max)
    return reply(fail(ErrorCode::invalid_argument,
                      "The pardon comes from a clock that is ahead by more than ten minutes; set "
                      "that machine's clock."));
  // A record that is newer than the pardon shows a new conviction, because nothing else changes the
  // record of a suspended worker.
  if (wanted.at <= tables_.trust.book().record(worker).updated)
    return reply(fail(ErrorCode::already_exists,
                      "The worker {} was convicted after this pardon was signed.", worker.text()));
  (void)tables_.trust.convictions().pardon(worker, now.unix);
  tables_.book.bar(worker, 0);
  sessions_.pardoned(worker);
  store(now);
  sessions_.refresh(worker, now);
  log_info("The worker {} is pardoned.", worker.text());
  reply(stakes_.view(worker, now));
}

}  // namespace weft::jobs
