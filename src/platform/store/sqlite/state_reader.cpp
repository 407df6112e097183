#include "platform/store/sqlite/state_reader.h"

#include <algorithm>
#include <span>

#include "common/base/format.h"
#include "platform/store/sqlite/query.h"
#include "platform/store/sqlite/rows.h"
#include "platform/store/sqlite/verdict_reader.h"

namespace weft::store::sqlite {
namespace {

// Visits jobs in the order of `seq`, which is that of the tables, so that each table is walked once
// and nothing is sorted.
constexpr std::string_view running_jobs = "FROM jobs j INDEXED BY jobs_running CROSS JOIN";

}  // namespace

Result<Loaded> StateReader::load() {
  return on_one_state(connection_, [this] { return load_all(); });
}

Result<Loaded> StateReader::load_all() {
  Loaded loaded;
  WEFT_OK(load_running(loaded));
  WEFT_OK(load_money(loaded));
  WEFT_OK(load_workers(loaded));
  WEFT_OK(load_others(loaded));
  WEFT_OK(load_market(loaded));
  WEFT_OK(load_held(loaded));
  WEFT_OK(load_verdicts(loaded));
  return loaded;
}

Result<> StateReader::load_workers(Loaded& loaded) {
  WEFT_ASSIGN(loaded.reputations,
              rows<Reputation>(
                  connection_, "SELECT worker, accepted, refused FROM reputations ORDER BY worker",
                  [](const Statement& row) -> Result<Reputation> {
                    WEFT_ASSIGN(const PublicKey worker, row.fixed<PublicKey>(0));
                    return Reputation{.worker = worker,
                                      .accepted = static_cast<std::uint64_t>(row.integer(1)),
                                      .refused = static_cast<std::uint64_t>(row.integer(2))};
                  }));
  WEFT_ASSIGN(loaded.standings,
              rows<Standing>(connection_,
                             "SELECT worker, verified, updated, wrong, suspended_until FROM "
                             "standings ORDER BY worker",
                             [](const Statement& row) -> Result<Standing> {
                               WEFT_ASSIGN(const PublicKey worker, row.fixed<PublicKey>(0));
                               return Standing{.worker = worker,
                                               .verified = row.real(1),
                                               .updated = row.integer(2),
                                               .wrong = static_cast<std::uint32_t>(row.integer(3)),
                                               .suspended_until = row.integer(4)};
                             }));
  WEFT_ASSIGN(loaded.client_shares,
              rows<ClientShare>(connection_,
                                "SELECT worker, client, weight, at FROM client_shares ORDER BY "
                                "worker, client",
                                [](const Statement& row) -> Result<ClientShare> {
                                  ClientShare share;
                                  WEFT_ASSIGN(share.worker, row.fixed<PublicKey>(0));
                                  WEFT_ASSIGN(share.client, row.fixed<PublicKey>(1));
                                  share.weight = row.real(2);
                                  share.at = row.integer(3);
                                  return share;
                                }));
  WEFT_ASSIGN(loaded.mismatches,
              rows<Mismatch>(connection_,
                             "SELECT worker, client, job, task, at, penalty FROM mismatches ORDER "
                             "BY worker, client",
                             [](const Statement& row) -> Result<Mismatch> {
                               Mismatch mismatch;
                               WEFT_ASSIGN(mismatch.worker, row.fixed<PublicKey>(0));
                               WEFT_ASSIGN(mismatch.client, row.fixed<PublicKey>(1));
                               WEFT_ASSIGN(mismatch.task.job, row.fixed<JobId>(2));
                               mismatch.task.index = static_cast<std::uint32_t>(row.integer(3));
                               mismatch.at = row.integer(4);
                               mismatch.penalty = row.integer(5);
                               return mismatch;
                             }));
  WEFT_ASSIGN(loaded.weight_sums,
              rows<WeightSum>(connection_,
                              "SELECT worker, file, shared, sum FROM weight_sums ORDER BY worker, "
                              "file, shared",
                              [](const Statement& row) -> Result<WeightSum> {
                                WeightSum sum;
                                WEFT_ASSIGN(sum.worker, row.fixed<PublicKey>(0));
                                WEFT_ASSIGN(sum.file, row.fixed<Hash>(1));
                                sum.shared = row.integer(2) != 0;
                                sum.sum = row.real(3);
                                return sum;
                              }));
  WEFT_ASSIGN(loaded.watches,
              rows<Watch>(connection_,
                          "SELECT worker, checks, mistakes, passes FROM watches ORDER BY worker",
                          [](const Statement& row) -> Result<Watch> {
                            Watch watch;
                            WEFT_ASSIGN(watch.worker, row.fixed<PublicKey>(0));
                            watch.checks = static_cast<std::uint32_t>(row.integer(1));
                            watch.mistakes = static_cast<std::uint32_t>(row.integer(2));
                            watch.passes = static_cast<std::uint32_t>(row.integer(3));
                            return watch;
                          }));
  WEFT_ASSIGN(loaded.faults, rows<Faults>(connection_, "SELECT job, state FROM faults ORDER BY job",
                                          [](const Statement& row) -> Result<Faults> {
                                            Faults faults;
                                            WEFT_ASSIGN(faults.job, row.fixed<JobId>(0));
                                            const ByteSpan state = row.blob(1);
                                            faults.state.assign(state.begin(), state.end());
                                            return faults;
                                          }));
  WEFT_ASSIGN(loaded.presences,
              rows<Presence>(connection_, "SELECT worker, hours FROM presences ORDER BY worker",
                             [](const Statement& row) -> Result<Presence> {
                               Presence presence;
                               WEFT_ASSIGN(presence.worker, row.fixed<PublicKey>(0));
                               WEFT_ASSIGN(presence.hours, unpack_hours(row.blob(1)));
                               return presence;
                             }));
  WEFT_ASSIGN(loaded.checkpoints,
              rows<Checkpoint>(
                  connection_,
                  weft::format("SELECT {}, j.id FROM checkpoints c JOIN jobs j ON j.seq = c.job "
                               "ORDER BY c.job, c.task, c.worker",
                               prefixed("c", checkpoint_columns)),
                  [](const Statement& row) -> Result<Checkpoint> {
                    WEFT_ASSIGN(const JobId job, row.fixed<JobId>(6));
                    return checkpoint_of(row, job);
                  }));
  return {};
}

Result<> StateReader::load_others(Loaded& loaded) {
  WEFT_ASSIGN(loaded.secrets,
              rows<Secret>(connection_, "SELECT name, value FROM secrets ORDER BY name",
                           [](const Statement& row) -> Result<Secret> {
                             Secret secret{.name = row.text(0), .value = {}};
                             WEFT_ASSIGN(secret.value, row.fixed<FixedBytes<32>>(1));
                             return secret;
                           }));
  WEFT_ASSIGN(loaded.client_weights,
              rows<ClientWeight>(
                  connection_, "SELECT client, weight, set_at FROM client_weights ORDER BY client",
                  [](const Statement& row) -> Result<ClientWeight> {
                    WEFT_ASSIGN(const PublicKey client, row.fixed<PublicKey>(0));
                    return ClientWeight{
                        .client = client, .weight = row.real(1), .at = row.integer(2)};
                  }));
  WEFT_ASSIGN(loaded.api_keys,
              rows<ApiKey>(connection_,
                           weft::format("SELECT {} FROM api_keys ORDER BY id", api_key_columns),
                           api_key_of));
  WEFT_ASSIGN(
      loaded.devices,
      rows<Device>(
          connection_, "SELECT key, owner, role, name, added, revoked FROM devices ORDER BY seq",
          [](const Statement& row) -> Result<Device> {
            Device device{.key = {},
                          .owner = {},
                          .name = row.text(3),
                          .added = row.integer(4),
                          .revoked = row.integer(5)};
            WEFT_ASSIGN(device.key, row.fixed<PublicKey>(0));
            WEFT_ASSIGN(device.owner, row.fixed<OwnerId>(1));
            if (row.integer(2) < 0 || row.integer(2) > 1)
              return fail(ErrorCode::data_loss, "The stored device {} has the unknown role {}.",
                          device.key.text(), row.integer(2));
            device.role = static_cast<DeviceRole>(row.integer(2));
            return device;
          }));
  WEFT_ASSIGN(
      loaded.models,
      rows<Model>(connection_, weft::format("SELECT {} FROM models ORDER BY name", model_columns),
                  model_of));
  return {};
}

Result<> StateReader::load_market(Loaded& loaded) {
  WEFT_ASSIGN(loaded.paces,
              rows<Pace>(connection_,
                         "SELECT work, worker, seconds, alone, time FROM paces ORDER BY time, "
                         "work, worker",
                         [](const Statement& row) -> Result<Pace> {
                           Pace pace{.work = {},
                                     .worker = {},
                                     .seconds = row.real(2),
                                     .alone = row.integer(3) != 0,
                                     .time = row.integer(4)};
                           WEFT_ASSIGN(pace.work, row.fixed<Hash>(0));
                           WEFT_ASSIGN(pace.worker, row.fixed<PublicKey>(1));
                           return pace;
                         }));
  WEFT_ASSIGN(loaded.seasons,
              rows<Season>(connection_, "SELECT hour, busy FROM seasons ORDER BY hour",
                           [](const Statement& row) -> Result<Season> {
                             return Season{.hour = static_cast<std::uint32_t>(row.integer(0)),
                                           .busy = row.real(1)};
                           }));
  return {};
}

Result<> StateReader::load_held(Loaded& loaded) {
  WEFT_ASSIGN(
      loaded.held_pays,
      rows<HeldPay>(connection_,
                    "SELECT h.task, h.worker, h.owner, h.free, h.granted, h.lost, j.id FROM "
                    "held_pays h JOIN jobs j ON j.seq = h.job ORDER BY h.job, h.task, "
                    "h.worker",
                    [](const Statement& row) -> Result<HeldPay> {
                      HeldPay held{.task = {},
                                   .worker = {},
                                   .owner = {},
                                   .free = row.integer(3),
                                   .granted = row.integer(4),
                                   .lost = row.integer(5) != 0};
                      WEFT_ASSIGN(const JobId job, row.fixed<JobId>(6));
                      held.task = {.job = job, .index = static_cast<std::uint32_t>(row.integer(0))};
                      WEFT_ASSIGN(held.worker, row.fixed<PublicKey>(1));
                      WEFT_ASSIGN(held.owner, row.fixed<OwnerId>(2));
                      return held;
                    }));
  if (loaded.held_pays.empty()) return {};
  WEFT_ASSIGN(
      loaded.held_tasks,
      rows<Task>(connection_,
                 weft::format("SELECT {}, j.id FROM (SELECT DISTINCT job, task FROM "
                              "held_pays) h CROSS JOIN tasks t ON t.job = h.job AND t.task "
                              "= h.task JOIN jobs j ON j.seq = t.job ORDER BY t.job, t.task",
                              prefixed("t", task_columns)),
                 [](const Statement& row) -> Result<Task> {
                   WEFT_ASSIGN(const JobId job, row.fixed<JobId>(7));
                   return task_of(row, job);
                 }));
  WEFT_ASSIGN(
      loaded.held_jobs,
      rows<Job>(connection_,
                weft::format("SELECT {} FROM jobs WHERE seq IN (SELECT job FROM held_pays) ORDER "
                             "BY seq",
                             job_columns),
                job_of));
  return {};
}

Result<> StateReader::load_running(Loaded& loaded) {
  WEFT_ASSIGN(
      loaded.jobs,
      rows<Job>(connection_,
                weft::format("SELECT {} FROM jobs WHERE state = 0 ORDER BY seq", job_columns),
                job_of));
  WEFT_ASSIGN(
      Statement tasks,
      connection_.prepare(weft::format(
          "SELECT {}, j.id {} tasks t ON t.job = j.seq WHERE j.state = 0 ORDER BY j.seq, t.task",
          prefixed("t", task_columns), running_jobs)));
  tasks.start();
  WEFT_OK(each_row(tasks, [&](const Statement& each) -> Result<> {
    WEFT_ASSIGN(const JobId job, each.fixed<JobId>(7));
    WEFT_ASSIGN(Task task, task_of(each, job));
    loaded.tasks.push_back(std::move(task));
    return {};
  }));
  return load_open_replicas(loaded);
}

// Loads the replicas of tasks that are not settled, in the order of their arrival.
Result<> StateReader::load_open_replicas(Loaded& loaded) {
  WEFT_ASSIGN(Statement replicas,
              connection_.prepare(weft::format("SELECT {}, j.id {} replicas r ON r.job = j.seq "
                                               "WHERE j.state = 0 ORDER BY j.seq, r.task, r.worker",
                                               prefixed("r", replica_columns), running_jobs)));
  std::size_t settled = 0;  // Index into loaded.tasks, which has the same order.
  std::size_t of_task = 0;  // Index of the first replica of the latest task.
  const auto order_by_arrival = [&] {
    std::ranges::sort(std::span(loaded.replicas).subspan(of_task), {}, [](const Replica& replica) {
      return std::pair(replica.arrived, replica.worker);
    });
  };
  std::size_t at = 0;  // Index into loaded.jobs.
  replicas.start();
  WEFT_OK(each_row(replicas, [&](const Statement& each) -> Result<> {
    WEFT_ASSIGN(const JobId job, each.fixed<JobId>(10));
    const auto index = static_cast<std::uint32_t>(each.integer(0));
    for (; at < loaded.jobs.size() && loaded.jobs[at].id != job; ++at) {
      while (settled < loaded.tasks.size() && loaded.tasks[settled].id.job == loaded.jobs[at].id)
        ++settled;
    }
    while (settled < loaded.tasks.size() && loaded.tasks[settled].id.job == job &&
           loaded.tasks[settled].id.index < index)
      ++settled;
    const TaskId task{.job = job, .index = index};
    if (settled < loaded.tasks.size() && loaded.tasks[settled].id == task) return {};
    WEFT_ASSIGN(Replica replica, replica_of(each, job));
    if (loaded.replicas.size() > of_task && loaded.replicas[of_task].task != task) {
      order_by_arrival();
      of_task = loaded.replicas.size();
    }
    loaded.replicas.push_back(std::move(replica));
    return {};
  }));
  order_by_arrival();
  return {};
}

Result<> StateReader::load_money(Loaded& loaded) {
  WEFT_ASSIGN(loaded.balances,
              rows<ledger::Entry>(
                  connection_,
                  "SELECT kind, key, balance FROM accounts WHERE balance <> 0 ORDER BY kind, key",
                  [](const Statement& row) -> Result<ledger::Entry> {
                    WEFT_ASSIGN(const ledger::Account account, account_of(row, 0));
                    return ledger::Entry{.account = account, .amount = row.integer(2)};
                  }));
  using Key = ledger::AppliedKey;
  // The keys of answers are not loaded: each contains a random id, so no request repeats one.
  WEFT_ASSIGN(
      loaded.keys,
      rows<Key>(
          connection_,
          "SELECT key FROM transactions WHERE job IS NULL AND key NOT GLOB 'answer-*' ORDER BY seq",
          [](const Statement& row) -> Result<Key> { return Key{.key = row.text(0), .job = {}}; }));
  WEFT_ASSIGN(const std::vector<Key> of_jobs,
              rows<Key>(connection_,
                        "SELECT t.key, j.id FROM jobs j JOIN transactions t ON t.job = j.seq WHERE "
                        "j.state = 0 ORDER BY j.seq, t.seq",
                        [](const Statement& row) -> Result<Key> {
                          WEFT_ASSIGN(const JobId job, row.fixed<JobId>(1));
                          return Key{.key = row.text(0), .job = job};
                        }));
  loaded.keys.insert(loaded.keys.end(), of_jobs.begin(), of_jobs.end());
  return {};
}

Result<> StateReader::load_verdicts(Loaded& loaded) {
  VerdictReader verdicts(connection_);
  WEFT_ASSIGN(loaded.rechecks, verdicts.rechecks());
  WEFT_ASSIGN(loaded.corrections, verdicts.open_corrections());
  return {};
}

}  // namespace weft::store::sqlite
