#include "fuzz/sessions/checks.h"

#include <set>

#include "common/base/format.h"
#include "common/protocol/api.h"
#include "platform/store/sqlite/sqlite_store.h"

namespace weft::sessions {

namespace {

using ledger::Account;

bool may_be_negative(const Account& account) { return account.kind == Account::Kind::mint; }

class StoreCheck {
 public:
  StoreCheck(World& world, store::Store& store) : world_(world), store_(store) {}

  void run() {
    if (const auto audit = store_.audit(); !audit)
      return world_.fail("The audit of the ledger: " + audit.error().message);
    const auto loaded = store_.load();
    if (!loaded) return world_.fail("The store cannot be read: " + loaded.error().message);
    MicroCredits sum = 0;
    for (const auto& [account, amount] : loaded->balances) {
      sum += amount;
      held_[account.text()] = amount;
      if (amount < 0 && !may_be_negative(account))
        world_.fail(weft::format("The account {} holds {}.", account.text(), amount));
    }
    if (sum != 0) world_.fail(weft::format("All accounts together hold {}.", sum));
    for (const KnownJob& job : world_.jobs) check(job);
  }

 private:
  void check(const KnownJob& known) {
    const JobId id = JobId::parse(known.id).value();
    const auto job = store_.job(id);
    if (!job)
      return world_.fail(
          weft::format("The acknowledged job {} is gone: {}", known.id, job.error().message));
    const PublicKey client =
        (known.client < world_.clients.size() ? world_.clients[known.client] : world_.plain)
            .public_key();
    if (job->client != client) world_.fail("The job " + known.id + " is another client's.");
    const auto by_nonce = store_.job_of_nonce(client, known.nonce);
    if (!by_nonce || !*by_nonce || **by_nonce != id)
      world_.fail("The nonce of the job " + known.id + " is not known any more.");
    if (known.cancelled && !store::is_terminal(job->state))
      world_.fail("The job " + known.id + " runs, and it was said to be cancelled.");

    std::set<std::uint32_t> accepted;
    if (const auto tasks = store_.tasks(id)) {
      for (const auto& task : *tasks) {
        if (!accepted.insert(task.id.index).second)
          world_.fail(weft::format("The task {} is settled twice.", task.id.text()));
        if (task.id.index >= job->tasks)
          world_.fail(weft::format("The job has no task {}.", task.id.text()));
      }
    }
    if (accepted.size() != job->accepted)
      world_.fail(weft::format("The job {} has {} accepted tasks and says {}.", known.id,
                               accepted.size(), job->accepted));
    // The client of a job that is not reproducible pays for all tasks that ran, accepted or not.
    const bool pays_all =
        job->state == store::JobState::failed && job->reason.starts_with("not reproducible");
    check_payments(known, id, pays_all ? job->tasks : accepted.size());
    const MicroCredits escrow =
        held_[Account::escrow(id).text()] + held_[Account::escrow_granted(id).text()];
    const MicroCredits spent = job->tasks > 0 ? job->price / job->tasks * job->accepted : 0;
    const MicroCredits expected = store::is_terminal(job->state) ? 0 : job->budget - spent;
    if (escrow != expected)
      world_.fail(weft::format("The escrow of the job {} ({}) holds {} and not {}.", known.id,
                               to_string(job->state), escrow, expected));
    if (job->state == store::JobState::done && job->accepted != job->tasks)
      world_.fail("The job " + known.id + " is done without all of its tasks.");
  }

  void check_payments(const KnownJob& known, const JobId& id, std::size_t payments_max) {
    std::set<std::string> paid;
    std::uint64_t from = 0;
    do {
      const auto page = store_.history(id, {.from = from, .count = 1000});
      if (!page)
        return world_.fail("The movements of the job " + known.id + ": " + page.error().message);
      for (const auto& each : page->transactions) {
        if (each.key.starts_with("pay:") && !paid.insert(each.key).second)
          world_.fail("Paid twice: " + each.key);
      }
      from = page->next;
    } while (from != 0);
    if (paid.size() > payments_max)
      world_.fail(weft::format("The job {} has {} payments, and {} at most are due.", known.id,
                               paid.size(), payments_max));
  }

  World& world_;
  store::Store& store_;
  std::map<std::string, MicroCredits> held_;
};

}  // namespace

void check_store(World& world) {
  const auto opened = store::sqlite::open(world.data / "weft.db");
  if (!opened) return world.fail("The store cannot be opened: " + opened.error().message);
  StoreCheck(world, **opened).run();
}

void check_ledger(World& world) {
  const auto answer =
      world.ask_now(world.sign(*world.operators, {.target = "/v1/ledger"}), world.address(101));
  if (!answer || answer->status != 200)
    return world.fail("The ledger is not shown: " + (answer ? answer->body : "no answer"));
  const auto ledger = protocol::api::from_json<protocol::api::Ledger>(answer->body);
  if (!ledger) return world.fail("The ledger is no document: " + answer->body);
  MicroCredits sum = 0;
  for (const auto& balance : ledger->balances) {
    sum += balance.amount;
    if (balance.amount < 0 && balance.account != "mint")
      world.fail(weft::format("The account {} holds {}.", balance.account, balance.amount));
  }
  if (sum != 0 || ledger->sum != 0)
    world.fail(weft::format("The ledger sums to {}, and says {}.", sum, ledger->sum));
}

}  // namespace weft::sessions
