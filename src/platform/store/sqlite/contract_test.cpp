// The contract of every store, for memory and for SQLite: a batch is stored whole or not at all, a
// contradiction is refused, and committed rows are read back unchanged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>

#include "platform/store/memory/memory_store.h"
#include "platform/store/sqlite/sqlite_store.h"
#include "platform/store/sqlite/test_rows.h"

namespace weft::store {
namespace {

namespace fs = std::filesystem;

class StoreContract : public testing::TestWithParam<std::string> {
 protected:
  StoreContract() {
    std::string name = (fs::temp_directory_path() / "weft-store-XXXXXX").string();
    directory = ::mkdtemp(name.data());
    store = GetParam() == "memory" ? memory::create() : sqlite::open(directory / "weft.db").value();
  }
  ~StoreContract() override {
    store.reset();
    fs::remove_all(directory);
  }

  void commit(const Batch& batch) { ASSERT_TRUE(store->commit(batch).has_value()); }

  fs::path directory;
  std::unique_ptr<Store> store;
};

INSTANTIATE_TEST_SUITE_P(Stores, StoreContract, testing::Values("memory", "sqlite"),
                         [](const auto& row) { return row.param; });

TEST_P(StoreContract, LoadsNothingAtFirst) {
  const Loaded loaded = store->load().value();
  EXPECT_TRUE(loaded.jobs.empty() && loaded.tasks.empty() && loaded.replicas.empty() &&
              loaded.balances.empty() && loaded.keys.empty());
  EXPECT_TRUE(store->audit().has_value());
}

TEST_P(StoreContract, PutsAndRemovesRecordsInTheirOrder) {
  const Job job = job_row(1);
  const TaskId task{.job = job.id, .index = 2};
  const auto put = [&](unsigned worker, std::uint32_t done) {
    return Changed<Checkpoint>{.row = checkpoint_row(task, worker, done)};
  };
  const auto removed = [&](unsigned worker) {
    return Changed<Checkpoint>{.row = {.task = task, .worker = key_of(worker)},
                               .change = Change::remove};
  };
  Batch first = submit_batch(job);
  first.checkpoints = {put(1, 10), put(2, 10), put(3, 10)};
  first.models = {{.row = model_row("a")}, {.row = model_row("b")}};
  first.presences = {{.row = presence_row(1)}, {.row = presence_row(2)}};
  first.paces = {{.row = pace_row(1, 30)}, {.row = pace_row(2, 20)}, {.row = pace_row(3, 10)}};
  const auto share = [](unsigned worker, unsigned client, double weight) {
    return ClientShare{
        .worker = key_of(worker), .client = key_of(client), .weight = weight, .at = 5};
  };
  first.client_shares = {{.row = share(2, 1, 0.3)},
                         {.row = share(1, 2, 1.1)},
                         {.row = share(1, 1, 0.1)},
                         {.row = share(2, 2, 0.5)}};
  const auto mismatch = [](unsigned worker, unsigned client, MicroCredits penalty) {
    return Mismatch{.worker = key_of(worker),
                    .client = key_of(client),
                    .task = {.job = job_row(7).id, .index = 3},
                    .at = 5,
                    .penalty = penalty};
  };
  first.mismatches = {{.row = mismatch(2, 1, 10)}, {.row = mismatch(1, 2, 20)}};
  const auto sum = [](unsigned worker, unsigned file, bool shared, double value) {
    return WeightSum{
        .worker = key_of(worker), .file = hash_of(file), .shared = shared, .sum = value};
  };
  first.weight_sums = {{.row = sum(2, 1, false, 0.25)},
                       {.row = sum(1, 2, true, 3)},
                       {.row = sum(1, 2, false, 4.5)},
                       {.row = sum(1, 1, true, 5)}};
  const auto faults = [](unsigned job, std::uint8_t state) {
    return Faults{.job = job_row(job).id, .state = {state, 0, state}};
  };
  first.watches = {{.worker = key_of(2), .checks = 32, .mistakes = 1},
                   {.worker = key_of(1), .checks = 64, .mistakes = 2, .passes = 3}};
  first.faults = {{.row = faults(2, 1)}, {.row = faults(1, 2)}};
  first.seasons = {{.hour = 167, .busy = 0.25}, {.hour = 3, .busy = 0.5}};
  commit(first);
  Batch second;
  second.checkpoints = {put(4, 10), removed(1), removed(4), removed(99), removed(2), put(2, 30)};
  second.models = {{.row = model_row("a"), .change = Change::remove}};
  second.presences = {{.row = {.worker = key_of(2)}, .change = Change::remove}};
  second.paces = {{.row = pace_row(2, 0), .change = Change::remove}, {.row = pace_row(3, 40)}};
  second.client_shares = {{.row = share(1, 2, 0), .change = Change::remove},
                          {.row = share(2, 1, 0.4)}};
  second.mismatches = {{.row = mismatch(1, 2, 0), .change = Change::remove},
                       {.row = mismatch(2, 1, 30)},
                       {.row = mismatch(1, 1, 5)}};
  second.weight_sums = {{.row = sum(1, 2, true, 0), .change = Change::remove},
                        {.row = sum(2, 1, false, 6)}};
  second.watches = {{.worker = key_of(2), .checks = 0, .mistakes = 1}};
  second.faults = {{.row = {.job = job_row(2).id, .state = {}}, .change = Change::remove},
                   {.row = faults(1, 3)}};
  second.seasons = {{.hour = 3, .busy = 0.75}};
  commit(second);
  const Loaded loaded = store->load().value();
  EXPECT_EQ(loaded.checkpoints,
            (std::vector{checkpoint_row(task, 2, 30), checkpoint_row(task, 3, 10)}));
  EXPECT_EQ(loaded.models, std::vector{model_row("b")});
  EXPECT_EQ(loaded.presences, std::vector{presence_row(1)});
  EXPECT_EQ(loaded.paces, (std::vector{pace_row(1, 30), pace_row(3, 40)})) << "by time";
  EXPECT_EQ(loaded.client_shares,
            (std::vector{share(1, 1, 0.1), share(2, 1, 0.4), share(2, 2, 0.5)}));
  EXPECT_EQ(loaded.mismatches, (std::vector{mismatch(1, 1, 5), mismatch(2, 1, 30)}));
  EXPECT_EQ(loaded.weight_sums,
            (std::vector{sum(1, 1, true, 5), sum(1, 2, false, 4.5), sum(2, 1, false, 6)}));
  EXPECT_EQ(loaded.watches,
            (std::vector<Watch>{{.worker = key_of(1), .checks = 64, .mistakes = 2, .passes = 3},
                                {.worker = key_of(2), .checks = 0, .mistakes = 1}}));
  EXPECT_EQ(loaded.faults, std::vector{faults(1, 3)});
  EXPECT_EQ(loaded.seasons,
            (std::vector<Season>{{.hour = 3, .busy = 0.75}, {.hour = 167, .busy = 0.25}}));

  // Batches that are committed together have the effect of separate commits in their order.
  Batch removing;
  removing.checkpoints = {removed(2), removed(3)};
  Batch putting_again;
  putting_again.checkpoints = {put(2, 50)};
  removing.merge(std::move(putting_again));
  EXPECT_FALSE(removing.empty());
  commit(removing);
  EXPECT_EQ(store->load().value().checkpoints, std::vector{checkpoint_row(task, 2, 50)});
}

TEST_P(StoreContract, KeepsHeldPayWithItsTasksAfterTheirJobHasEnded) {
  const Job ended = job_row(1);
  const Job running = job_row(2);
  Batch batch = submit_batch(ended);
  batch.merge(submit_batch(running));
  batch.tasks = {task_row(ended, 0), task_row(ended, 1), task_row(running, 5)};
  const auto put = [](const Job& job, std::uint32_t index, unsigned worker, bool lost = false) {
    return Changed<HeldPay>{.row = held_pay_row({.job = job.id, .index = index}, worker, lost)};
  };
  batch.held_pays = {put(running, 5, 1), put(ended, 1, 2), put(ended, 0, 2), put(ended, 1, 1)};
  commit(batch);
  Batch end;
  end.job_updates = {{.id = ended.id,
                      .price = {},
                      .end = JobUpdate::End{.reason = {}, .root = {}, .outputs = {}}}};
  end.held_pays = {
      put(ended, 1, 2, true),
      {.row = {.task = {.job = ended.id, .index = 0}, .worker = key_of(2), .owner = {}},
       .change = Change::remove}};
  commit(end);

  const Loaded loaded = store->load().value();

  EXPECT_EQ(loaded.held_pays, (std::vector{put(ended, 1, 1).row, put(ended, 1, 2, true).row,
                                           put(running, 5, 1).row}));
  EXPECT_EQ(loaded.held_tasks, (std::vector{task_row(ended, 1), task_row(running, 5)}));
  ASSERT_EQ(loaded.held_jobs.size(), 2U);
  EXPECT_EQ(loaded.held_jobs[0].id, ended.id);
  EXPECT_EQ(loaded.held_jobs[0].manifest, ended.manifest);
  EXPECT_EQ(loaded.held_jobs[1].id, running.id);

  Batch unknown;
  unknown.held_pays = {put(job_row(9), 0, 1)};
  EXPECT_EQ(store->commit(unknown).error().code, ErrorCode::not_found);
}

TEST_P(StoreContract, FindsThePaidTasksOfAWorkerPageByPage) {
  const Job ended_before = job_row(1), ended = job_row(2), running = job_row(3);
  Batch batch;
  for (const Job& job : {ended_before, ended, running}) batch.merge(submit_batch(job));
  const auto paid = [](const Job& job, std::uint32_t index, UnixMillis accepted,
                       std::vector<PublicKey> workers) {
    Task task = task_row(job, index);
    task.accepted = accepted;
    task.agreeing = std::move(workers);
    return task;
  };
  const PublicKey one = key_of(1), other = key_of(2);
  batch.tasks = {paid(ended_before, 0, 50, {one}),  paid(ended, 0, 99, {one}),
                 paid(ended, 1, 100, {other, one}), paid(ended, 2, 150, {other}),
                 paid(ended, 3, 150, {one}),        paid(running, 0, 200, {one}),
                 paid(running, 1, 201, {one})};
  const auto end = [](const Job& job, UnixMillis at) {
    return JobUpdate{.id = job.id,
                     .price = {},
                     .end = JobUpdate::End{.reason = {}, .root = {}, .outputs = {}, .ended = at}};
  };
  batch.job_updates = {end(ended_before, 60), end(ended, 160)};
  commit(batch);

  Store::PaidPage page{.worker = one, .since = 100, .until = 200, .after = {}, .count = 2};
  EXPECT_EQ(store->paid_tasks(page).value(), (std::vector{batch.tasks[2], batch.tasks[4]}));
  page.after = batch.tasks[4].id;
  EXPECT_EQ(store->paid_tasks(page).value(), std::vector{batch.tasks[5]});
  page.after = batch.tasks[5].id;
  EXPECT_TRUE(store->paid_tasks(page).value().empty());
}

TEST_P(StoreContract, KeepsWhatIsCorrectedAndHowResultsWereDecided) {
  const Job job = job_row(1);
  Batch batch = submit_batch(job);
  batch.tasks = {task_row(job, 0), task_row(job, 1)};
  const TaskId first{.job = job.id, .index = 0}, second{.job = job.id, .index = 1};
  Recheck recheck{.worker = key_of(1), .convicted = 7, .last = {}, .tasks = 3, .taken = 40};
  Correction correction{.task = first,
                        .worker = key_of(1),
                        .client = key_of(3),
                        .time = 9,
                        .replaced = true,
                        .was = batch.tasks[0].root,
                        .due = 30,
                        .refunded = 20,
                        .joined = true,
                        .settled = false,
                        .reason = "x"};
  const Check check{.task = second,
                    .time = 10,
                    .worker = key_of(1),
                    .root = batch.tasks[1].root,
                    .by = key_of(2),
                    .kind = Check::Kind::recheck,
                    .outcome = Check::Outcome::differs,
                    .ranges = {{.first = 0, .count = 2}, {.first = 5, .count = 1}},
                    .wrong = Check::Range{.first = 5, .count = 1},
                    .reason = "why"};
  batch.rechecks = {{.row = recheck}};
  batch.corrections = {correction};
  batch.checks = {check};
  Task right = batch.tasks[0];
  right.root = batch.tasks[1].root;
  right.outputs = {{.hash = right.root, .bytes = 5}};
  right.worker = {};
  right.basis = Basis::corrected;
  batch.corrected_tasks = {right};
  commit(batch);

  Loaded loaded = store->load().value();
  EXPECT_EQ(loaded.rechecks, std::vector{recheck});
  EXPECT_EQ(loaded.corrections, std::vector{correction});
  EXPECT_EQ(store->tasks(job.id).value(), (std::vector{right, batch.tasks[1]}));
  EXPECT_EQ(store->bases(job.id).value()[static_cast<std::size_t>(Basis::corrected)], 1U);
  EXPECT_EQ(store->bases(job.id).value()[static_cast<std::size_t>(Basis::unknown)], 1U);
  EXPECT_EQ(store->checks(job.id, 9).value(), std::vector{check});
  EXPECT_EQ(store->checks(key_of(1), 9).value(), std::vector{check});
  EXPECT_TRUE(store->checks(key_of(2), 9).value().empty());

  Batch later;
  recheck.last = second;
  correction.settled = true;
  later.rechecks = {{.row = recheck}};
  later.corrections = {correction};
  later.checks_kept_since = {11};
  commit(later);
  loaded = store->load().value();
  EXPECT_EQ(loaded.rechecks, std::vector{recheck});
  EXPECT_TRUE(loaded.corrections.empty());
  EXPECT_EQ(store->corrections(job.id).value(), std::vector{correction});
  EXPECT_TRUE(store->checks(job.id, 9).value().empty());

  Batch over;
  over.rechecks = {{.row = recheck, .change = Change::remove}};
  commit(over);
  EXPECT_TRUE(store->load().value().rechecks.empty());
}

TEST_P(StoreContract, KeepsEvidenceWithinBounds) {
  const auto evidence = [](unsigned worker, std::uint32_t index, unsigned other) {
    return Evidence{
        .worker = key_of(worker),
        .owner = key_of(worker + 100),
        .task = {.job = {}, .index = index},
        .attempt = 1,
        .time = 17,
        .first = {.root = hash_of(1), .statement = {1, 2, 3}, .claims = {4}, .signature = {}},
        .second = {.root = hash_of(other), .statement = {5}, .claims = {6, 7}, .signature = {}}};
  };
  Batch batch;
  std::vector<Evidence> kept;
  for (std::uint32_t index = 0; index < 10; ++index) {
    batch.evidence.push_back(evidence(1, index, 2));
    if (index < evidence_of_worker_max) kept.push_back(batch.evidence.back());
  }
  // The first attempt of worker 1 again.
  batch.evidence.push_back(evidence(1, 0, 3));
  batch.evidence.push_back(evidence(2, 0, 3));  // An attempt of another worker.
  kept.push_back(batch.evidence.back());
  commit(batch);
  EXPECT_EQ(store->evidence(0, evidence_max).value(), kept);
  EXPECT_EQ(store->evidence(1, 2).value(), std::vector(kept.begin() + 1, kept.begin() + 3));
  EXPECT_TRUE(store->evidence(kept.size(), 2).value().empty());
  commit(batch);
  EXPECT_EQ(store->evidence(0, evidence_max).value(), kept);
}

TEST_P(StoreContract, KeepsTheLatestEvidenceWhereThereIsTooMuch) {
  constexpr std::uint32_t more = 3;
  Batch batch;
  for (std::uint32_t i = 0; i < evidence_max + more; ++i) {
    Evidence each{.worker = key_of(1),
                  .owner = key_of(2),
                  .task = {},
                  .attempt = i,
                  .first = {},
                  .second = {}};
    for (int byte = 0; byte < 4; ++byte)
      each.worker.bytes[static_cast<std::size_t>(byte)] =
          static_cast<std::uint8_t>(i >> (8 * byte));
    batch.evidence.push_back(each);
  }
  commit(batch);
  const auto kept = store->evidence(0, evidence_max + more).value();
  ASSERT_EQ(kept.size(), evidence_max);
  EXPECT_EQ(kept.front(), batch.evidence[more]);
  EXPECT_EQ(kept.back(), batch.evidence.back());

  // A row that is not kept makes no other row go.
  Batch again;
  again.evidence.push_back(batch.evidence.back());
  commit(again);
  EXPECT_EQ(store->evidence(0, 1).value().front(), kept.front());
}

TEST_P(StoreContract, NamesTheJobsWhoseBlobsAreKept) {
  constexpr UnixMillis since = 5'000;
  const Job running = job_row(1), ended_before = job_row(2), ended_later = job_row(3),
            held = job_row(4);
  const auto end = [](const Job& job, UnixMillis ended) {
    return JobUpdate{
        .id = job.id,
        .price = {},
        .end = JobUpdate::End{.reason = {}, .root = {}, .outputs = {}, .ended = ended}};
  };
  Batch batch;
  for (const Job& job : {running, ended_before, ended_later, held}) batch.merge(submit_batch(job));
  batch.job_updates = {end(ended_before, since - 1), end(ended_later, since), end(held, since - 1)};
  batch.tasks = {task_row(held, 0)};
  batch.held_pays = {{.row = held_pay_row({.job = held.id, .index = 0}, 1)}};
  const TaskId task{.job = running.id, .index = 2};
  batch.checkpoints = {{.row = checkpoint_row(task, 1, 10)}, {.row = checkpoint_row(task, 2, 10)}};
  const Model model = model_row("a");
  batch.models = {{.row = model}};
  commit(batch);

  const BlobOwners owners = store->blob_owners(since).value();

  EXPECT_THAT(owners.jobs, testing::UnorderedElementsAre(running.id, ended_later.id, held.id));
  EXPECT_THAT(owners.blobs, testing::UnorderedElementsAre(checkpoint_row(task, 1, 10).blob,
                                                          checkpoint_row(task, 2, 10).blob,
                                                          model.file_hash(), model.chunks_hash()));
}

TEST_P(StoreContract, DeletesTheContentOfAClientsEndedJobsAndKeepsTheirMoneyAndProofs) {
  const Job running = job_row(1), ended = job_row(8), other = job_row(2);
  ASSERT_EQ(running.client, ended.client);
  ASSERT_NE(running.client, other.client);
  const auto end = [](const Job& job) {
    return JobUpdate{.id = job.id,
                     .price = {},
                     .end = JobUpdate::End{.reason = "its reason",
                                           .root = hash_of(3),
                                           .outputs = {{hash_of(4), 100}},
                                           .ended = 5'000}};
  };
  Batch batch;
  for (const Job& job : {running, ended, other}) {
    Batch submitted = submit_batch(job);
    // The client gets the credits for both jobs only once.
    if (job.id == ended.id) submitted.transactions.erase(submitted.transactions.begin());
    batch.merge(std::move(submitted));
  }
  batch.tasks = {task_row(ended, 0)};
  batch.receipts = {receipt_row(7)};
  batch.replicas = {replica_row(ended, 0, 7)};
  batch.job_updates = {end(other)};
  batch.api_keys = {api_key_row("one", 5), api_key_row("other", 6)};
  commit(batch);
  const auto replicas = store->replicas(ended.id).value();
  const auto history = store->history(ended.id, {}).value();

  // The commit that forgets the client also ends its job, and the end of the job is written first.
  Batch forgetting;
  forgetting.clients_forgotten = {ended.client};
  forgetting.api_keys_removed = {"one", "none"};
  forgetting.job_updates = {end(ended)};
  commit(forgetting);

  const Job left = store->job(ended.id).value();
  EXPECT_EQ(left.name + left.manifest + left.reason, "");
  EXPECT_EQ(left.manifest_hash, Hash());
  EXPECT_TRUE(left.outputs.empty());
  EXPECT_EQ(left.state, JobState::done);
  EXPECT_EQ(left.root, hash_of(3));
  EXPECT_EQ(left.budget, ended.budget);
  EXPECT_EQ(store->tasks(ended.id).value(), std::vector<Task>{task_row(ended, 0)});
  EXPECT_EQ(store->replicas(ended.id).value(), replicas);
  EXPECT_EQ(store->receipts(ended.id).value().size(), 1U);
  EXPECT_EQ(store->history(ended.id, {}).value().transactions, history.transactions);
  EXPECT_EQ(store->job(running.id).value().manifest, running.manifest);
  EXPECT_EQ(store->job(other.id).value().manifest, other.manifest);
  EXPECT_THAT(store->blob_owners(0).value().jobs,
              testing::UnorderedElementsAre(running.id, other.id));
  EXPECT_EQ(store->load().value().api_keys, std::vector<ApiKey>{api_key_row("other", 6)});
  EXPECT_TRUE(store->audit().has_value());
}

TEST_P(StoreContract, RefusesTheStateOfAnUnknownJobAndTwoKeysWithOneSecret) {
  Batch unknown;
  unknown.checkpoints = {{.row = checkpoint_row({.job = job_row(9).id, .index = 0}, 1, 10)}};
  EXPECT_EQ(store->commit(unknown).error().code, ErrorCode::not_found);

  Batch twice;
  twice.api_keys = {api_key_row("one", 5), api_key_row("other", 5)};
  EXPECT_EQ(store->commit(twice).error().code, ErrorCode::already_exists);
  EXPECT_TRUE(store->load().value().api_keys.empty());
}

TEST_P(StoreContract, ReadsBackEverythingThatWasCommitted) {
  Job job = job_row(1);
  job.per_unit = 1'500'000;
  job.price_quoted = 7;
  job.price_max = 11;
  job.price_max_named = false;
  Batch batch = submit_batch(job);
  batch.secrets = {{.name = "draws", .value = {hash_of(11).bytes}}};
  batch.standings = {{.worker = key_of(7),
                      .verified = 1.0 / 3,
                      .updated = 1'700'000'000'000,
                      .wrong = 2,
                      .suspended_until = 1'800'000'000'000}};
  batch.client_weights = {{.client = key_of(8), .weight = 0.1, .at = 5}};
  batch.api_keys = {api_key_row("a", 1), api_key_row("b", 2)};
  batch.checkpoints = {{.row = checkpoint_row({.job = job.id, .index = 3}, 7, 40)}};
  batch.presences = {{.row = presence_row(7)}};
  batch.models = {{.row = model_row("tiny")}};
  batch.replicas = {replica_row(job, 0, 7), replica_row(job, 0, 8), replica_row(job, 2, 7)};
  batch.receipts = {receipt_row(7), receipt_row(7)};
  batch.tasks = {task_row(job, 0)};
  batch.reputations = {{.worker = key_of(7), .accepted = 3, .refused = 1}};
  commit(batch);

  const Loaded loaded = store->load().value();

  EXPECT_EQ(loaded.secrets, batch.secrets);
  EXPECT_EQ(loaded.standings, batch.standings);
  EXPECT_EQ(loaded.client_weights, batch.client_weights);
  EXPECT_EQ(loaded.api_keys, batch.api_keys);
  EXPECT_EQ(loaded.checkpoints, std::vector{batch.checkpoints[0].row});
  EXPECT_EQ(loaded.presences, std::vector{batch.presences[0].row});
  EXPECT_EQ(loaded.models, std::vector{batch.models[0].row});
  Job counted = job;
  counted.accepted = 1;
  EXPECT_EQ(loaded.jobs, std::vector{counted});
  EXPECT_EQ(loaded.tasks, batch.tasks);
  EXPECT_EQ(loaded.replicas, std::vector{batch.replicas[2]}) << "only of open tasks";
  EXPECT_EQ(loaded.reputations, batch.reputations);
  EXPECT_EQ(store->job(job.id).value(), counted);
  EXPECT_EQ(store->tasks(job.id).value(), batch.tasks);
  EXPECT_EQ(store->replicas(job.id).value(), batch.replicas);
  EXPECT_EQ(store->receipts(job.id).value(), std::vector{batch.receipts[0]})
      << "once, though it was committed twice";
  EXPECT_EQ(store->receipts(job_row(2).id).error().code, ErrorCode::not_found);
  EXPECT_EQ(store->job_of_nonce(job.client, nonce_of(1)).value(), job.id);
  EXPECT_EQ(store->job_of_nonce(key_of(99), nonce_of(1)).value(), std::nullopt);
}

TEST_P(StoreContract, CommitsSeveralBatchesTogetherOrNoneOfThem) {
  const std::vector<Batch> two = {submit_batch(job_row(1)), submit_batch(job_row(2))};
  int asked = 0;
  const auto refuses = [&]() -> Result<> {
    ++asked;
    return fail(ErrorCode::data_loss, "The blobs are not there.");
  };
  EXPECT_EQ(store->commit_all(two, refuses).error().code, ErrorCode::data_loss);
  EXPECT_EQ(asked, 1);
  EXPECT_TRUE(store->load()->jobs.empty());

  const std::vector<Batch> with_a_bad_one = {two[0], two[1], two[1]};
  EXPECT_EQ(store->commit_all(with_a_bad_one, refuses).error().code, ErrorCode::already_exists);
  EXPECT_EQ(asked, 1) << "what cannot be stored is not waited for";
  EXPECT_TRUE(store->load()->jobs.empty());

  EXPECT_TRUE(store->commit_all(two, {}).has_value()) << "and the store goes on";
  EXPECT_EQ(store->load()->jobs, (std::vector{job_row(1), job_row(2)}));
  EXPECT_TRUE(store->audit().has_value());
}

TEST_P(StoreContract, LoadsTasksAndReplicasInTheOrderOfTheirJobs) {
  // Jobs whose ids are not in the order of their commits. The middle one has ended; the last two
  // have open and settled tasks.
  const std::vector<Job> jobs = {job_row(9), job_row(5), job_row(7), job_row(3)};
  for (const Job& job : jobs) commit(submit_batch(job));
  const auto replica = [](const Job& job, std::uint32_t index, unsigned worker,
                          UnixMillis arrived) {
    Replica row = replica_row(job, index, worker);
    row.arrived = arrived;
    return row;
  };
  Batch batch;
  for (const Job& job : {jobs[1], jobs[2], jobs[3]}) {
    batch.tasks.insert(batch.tasks.end(), {task_row(job, 3), task_row(job, 1)});
    for (const std::uint32_t index : {3U, 2U, 1U, 0U}) {
      // The worker whose replica arrived first has the greater key.
      batch.replicas.insert(batch.replicas.end(),
                            {replica(job, index, 200, 10), replica(job, index, 7, 20)});
    }
  }
  batch.job_updates.push_back(
      {.id = jobs[1].id,
       .price = {},
       .end = JobUpdate::End{
           .state = JobState::cancelled, .reason = "", .root = {}, .outputs = {}, .ended = 9}});
  commit(batch);

  const Loaded loaded = store->load().value();

  std::vector<JobId> ids;
  for (const Job& job : loaded.jobs) ids.push_back(job.id);
  EXPECT_EQ(ids, (std::vector{jobs[0].id, jobs[2].id, jobs[3].id}));
  std::vector<TaskId> settled;
  for (const Task& task : loaded.tasks) settled.push_back(task.id);
  EXPECT_EQ(settled, (std::vector<TaskId>{
                         {jobs[2].id, 1}, {jobs[2].id, 3}, {jobs[3].id, 1}, {jobs[3].id, 3}}));
  std::vector<std::pair<TaskId, PublicKey>> open;
  for (const Replica& row : loaded.replicas) open.emplace_back(row.task, row.worker);
  std::vector<std::pair<TaskId, PublicKey>> expected;
  for (const Job& job : {jobs[2], jobs[3]}) {
    for (const std::uint32_t index : {0U, 2U}) {
      expected.insert(expected.end(),
                      {{{job.id, index}, key_of(200)}, {{job.id, index}, key_of(7)}});
    }
  }
  EXPECT_EQ(open, expected);
}

TEST_P(StoreContract, KeepsBalancesAndKeysForTheLedger) {
  const Job job = job_row(1);
  commit(submit_batch(job));

  const Loaded loaded = store->load().value();

  EXPECT_EQ(loaded.balances,
            (std::vector<ledger::Entry>{{ledger::Account::mint(), -2 * job.budget},
                                        {ledger::Account::owner(owner_of(job.client)), job.budget},
                                        {ledger::Account::escrow(job.id), job.budget}}));
  ASSERT_EQ(loaded.keys.size(), 2U);
  EXPECT_EQ(loaded.keys[0].key, ledger::issue(owner_of(job.client), 1, 1).key);
  EXPECT_EQ(loaded.keys[0].job, std::nullopt);
  EXPECT_EQ(loaded.keys[1].key, ledger::open_escrow(job.id, owner_of(job.client), 1, {}).key);
  EXPECT_EQ(loaded.keys[1].job, job.id);
  EXPECT_TRUE(store->audit().has_value());
}

TEST_P(StoreContract, ShowsTheWholeAuditTrailInPagesOldestFirst) {
  for (const unsigned number : {1U, 2U}) commit(submit_batch(job_row(number)));

  const History first = store->history(Store::HistoryPage{.count = 3}).value();
  ASSERT_EQ(first.transactions.size(), 3U);
  ASSERT_NE(first.next, 0U);
  const History last = store->history(Store::HistoryPage{.from = first.next, .count = 3}).value();
  ASSERT_EQ(last.transactions.size(), 1U);
  EXPECT_EQ(last.next, 0U);

  const Job job = job_row(1);
  EXPECT_EQ(first.transactions[0].key, ledger::issue(owner_of(job.client), 1, 1).key);
  EXPECT_EQ(first.transactions[1].job, job.id);
  EXPECT_EQ(last.transactions[0].job, job_row(2).id);
  EXPECT_EQ(last.transactions[0].movements.size(), 2U);
}

TEST_P(StoreContract, KeepsDevicesAndWhatBecameOfThem) {
  const OwnerId owner = owner_of(key_of(1));
  const Device first{.key = key_of(1), .owner = owner, .name = "", .added = 5};
  Device second{
      .key = key_of(2), .owner = owner, .role = DeviceRole::recovery, .name = "käse", .added = 5};
  Batch batch;
  batch.devices = {first, second};
  commit(batch);
  second.revoked = 9;
  Batch change;
  change.devices = {second};
  commit(change);

  EXPECT_THAT(store->load()->devices, testing::UnorderedElementsAre(first, second));
}

TEST_P(StoreContract, LeavesEndedJobsOutOfWhatIsLoaded) {
  const Job job = job_row(1);
  commit(submit_batch(job));
  Batch end;
  end.tasks = {task_row(job, 0)};
  end.job_updates.push_back(
      {.id = job.id,
       .price =
           JobUpdate::Price{.price = 77, .units = 1.5, .reference_seconds_per_workgroup = 0.25},
       .end = {}});
  end.job_updates.push_back({.id = job.id,
                             .price = {},
                             .end = JobUpdate::End{.state = JobState::failed,
                                                   .reason = "replicas differ",
                                                   .root = hash_of(4),
                                                   .outputs = {{hash_of(5), 7}},
                                                   .ended = 99}});
  end.transactions.push_back(
      {.transaction = ledger::close_escrow(job.id, owner_of(job.client), {.free = job.budget}),
       .time = 99});
  commit(end);

  const Loaded loaded = store->load().value();

  EXPECT_TRUE(loaded.jobs.empty());
  EXPECT_TRUE(loaded.tasks.empty());
  EXPECT_EQ(loaded.keys.size(), 1U) << "the issued credits";
  const Job ended = store->job(job.id).value();
  EXPECT_EQ(ended.state, JobState::failed);
  EXPECT_EQ(ended.reason, "replicas differ");
  EXPECT_EQ(ended.price, 77);
  EXPECT_DOUBLE_EQ(ended.units, 1.5);
  EXPECT_DOUBLE_EQ(ended.reference_seconds_per_workgroup, 0.25);
  EXPECT_EQ(ended.root, hash_of(4));
  EXPECT_EQ(ended.outputs, (std::vector<OutputBlob>{{hash_of(5), 7}}));
  EXPECT_EQ(ended.ended, 99);
  EXPECT_EQ(store->tasks(job.id).value().size(), 1U);
}

// Each row of the table contradicts the store: the batch is refused with the row's code, and no
// part of the batch is stored.
TEST_P(StoreContract, RefusesWhatContradictsItAndStoresNothingOfIt) {
  const Job job = job_row(1);
  Batch first = submit_batch(job);
  first.replicas = {replica_row(job, 0, 7)};
  first.tasks = {task_row(job, 0)};
  commit(first);

  struct Row {
    std::string_view why;
    std::function<void(Batch&)> add;
    ErrorCode code;
  };
  const Job stranger = job_row(50);
  const std::vector<Row> rows = {
      {"the same job", [&](Batch& batch) { batch.jobs.push_back(job); }, ErrorCode::already_exists},
      {"the same nonce",
       [&](Batch& batch) { batch.nonces.push_back({job.client, nonce_of(1), job.id}); },
       ErrorCode::already_exists},
      {"the same task", [&](Batch& batch) { batch.tasks.push_back(task_row(job, 0)); },
       ErrorCode::already_exists},
      {"the same worker's second replica",
       [&](Batch& batch) { batch.replicas.push_back(replica_row(job, 0, 7)); },
       ErrorCode::already_exists},
      {"the same payment",
       [&](Batch& batch) {
         batch.transactions.push_back({ledger::issue(owner_of(job.client), 1, 1), 1});
       },
       ErrorCode::already_exists},
      {"a task of an unknown job",
       [&](Batch& batch) { batch.tasks.push_back(task_row(stranger, 0)); }, ErrorCode::not_found},
      {"a replica of an unknown job",
       [&](Batch& batch) { batch.replicas.push_back(replica_row(stranger, 0, 7)); },
       ErrorCode::not_found},
      {"an unknown job's end",
       [&](Batch& batch) {
         batch.job_updates.push_back({.id = stranger.id, .price = {}, .end = JobUpdate::End{}});
       },
       ErrorCode::not_found},
      {"an unknown job's money",
       [&](Batch& batch) {
         batch.transactions.push_back(
             {ledger::open_escrow(stranger.id, owner_of(job.client), 1, {}), 1});
       },
       ErrorCode::not_found},
      {"more than there is",
       [&](Batch& batch) {
         batch.transactions.push_back({ledger::refund(job.id, owner_of(job.client), job.budget + 1,
                                                      "1", {.free = job.budget + 1}),
                                       1});
       },
       ErrorCode::insufficient_funds},
      {"money from nowhere",
       [&](Batch& batch) {
         batch.transactions.push_back(
             {{.key = "k", .job = {}, .entries = {{ledger::Account::platform(), 1}}, .what = ""},
              1});
       },
       ErrorCode::invalid_argument},
  };
  for (const Row& row : rows) {
    Batch batch;
    batch.secrets.push_back({.name = "mark", .value = {}});
    batch.jobs.push_back(job_row(2));
    batch.replicas.push_back(replica_row(job, 3, 9));
    batch.tasks.push_back(task_row(job, 3));
    batch.transactions.push_back({ledger::grant(owner_of(key_of(77)), 5), 1});
    row.add(batch);

    const Result<> refused = store->commit(batch);

    ASSERT_FALSE(refused.has_value()) << row.why;
    EXPECT_EQ(refused.error().code, row.code) << row.why << ": " << refused.error().message;
    const Loaded loaded = store->load().value();
    EXPECT_TRUE(loaded.secrets.empty()) << row.why;
    EXPECT_EQ(loaded.jobs.size(), 1U) << row.why;
    EXPECT_EQ(loaded.jobs[0].accepted, 1U) << row.why;
    EXPECT_EQ(loaded.tasks.size(), 1U) << row.why;
    EXPECT_TRUE(loaded.replicas.empty()) << row.why;
    EXPECT_EQ(loaded.keys.size(), 2U) << row.why;
    EXPECT_TRUE(store->audit().has_value()) << row.why;
  }
  commit(submit_batch(job_row(3)));  // After the refusals the store accepts further batches.
}

TEST_P(StoreContract, ListsJobsNewestFirstByClientAndPage) {
  for (std::uint8_t i = 1; i <= 5; ++i) {
    Batch batch;
    Job job = job_row(i);
    job.created = UnixMillis{i} * 100;
    job.client = key_of(i % 2);
    batch.jobs.push_back(job);
    commit(batch);
  }
  const auto ids = [&](const Store::JobPage& page) {
    std::vector<int> found;
    for (const Job& job : store->jobs(page).value()) found.push_back(job.id.bytes[0]);
    return found;
  };

  EXPECT_EQ(ids({}), (std::vector{5, 4, 3, 2, 1}));
  EXPECT_EQ(ids({.client = key_of(1)}), (std::vector{5, 3, 1}));
  EXPECT_EQ(ids({.client = {}, .before = 400, .count = 2}), (std::vector{3, 2}));
  EXPECT_EQ(ids({.client = {}, .before = 400, .count = 0}), std::vector<int>());
}

TEST_P(StoreContract, PagesOfJobsSkipNoneOfOneMillisecond) {
  for (std::uint8_t i = 1; i <= 6; ++i) {
    Batch batch;
    Job job = job_row(i);
    job.created = i <= 4 ? 100 : 200;
    job.client = key_of(i % 2);
    batch.jobs.push_back(job);
    commit(batch);
  }
  const auto paged = [&](std::optional<PublicKey> client) {
    std::vector<int> found;
    Store::JobPage page{.client = client, .before = 0, .count = 1};
    for (;;) {
      const std::vector<Job> jobs = store->jobs(page).value();
      if (jobs.empty()) return found;
      for (const Job& job : jobs) found.push_back(job.id.bytes[0]);
      page.before = jobs.back().created;
    }
  };
  EXPECT_EQ(paged({}), (std::vector{6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(paged(key_of(1)), (std::vector{5, 3, 1}));
}

// The transactions of a job, from the issue of credits to its end: 2,000,000 issued, 1,000,000 in
// escrow, two tasks of 1,000 paid, the rest returned.
struct Trail {
  Job job = job_row(1);
  ledger::Account client = ledger::Account::owner(owner_of(job.client));
  ledger::Account escrow = ledger::Account::escrow(job.id);
  ledger::Account worker = ledger::Account::owner(owner_of(key_of(7)));

  void commit_to(Store& store) const {
    ASSERT_TRUE(store.commit(submit_batch(job)).has_value());
    for (const std::uint32_t index : {0U, 1U}) {
      Batch batch;
      batch.transactions.push_back(
          {.transaction = ledger::pay_task({.task = {job.id, index},
                                            .client = owner_of(job.client),
                                            .price = 1000,
                                            .replicas = 2},
                                           std::vector{owner_of(key_of(7))}, {.free = 1000}),
           .time = 5 + index});
      ASSERT_TRUE(store.commit(batch).has_value());
    }
    Batch batch;
    batch.transactions.push_back(
        {.transaction = ledger::close_escrow(job.id, owner_of(job.client), {.free = 998'000}),
         .time = 9});
    ASSERT_TRUE(store.commit(batch).has_value());
  }
};

TEST_P(StoreContract, TellsAJobsMoneyFromItsEscrowToItsEndWithRunningBalances) {
  const Trail trail;
  trail.commit_to(*store);

  const History history = store->history(trail.job.id, {}).value();

  ASSERT_EQ(history.transactions.size(), 4U);
  EXPECT_EQ(history.next, 0U);
  using Movements = std::vector<Movement>;
  EXPECT_EQ(history.transactions[0].movements, (Movements{{trail.client, -1'000'000, 1'000'000},
                                                          {trail.escrow, 1'000'000, 1'000'000}}));
  EXPECT_EQ(history.transactions[1].movements, (Movements{{trail.escrow, -1000, 999'000},
                                                          {trail.worker, 500, 500},
                                                          {trail.client, 500, 1'000'500}}));
  EXPECT_EQ(history.transactions[2].movements, (Movements{{trail.escrow, -1000, 998'000},
                                                          {trail.worker, 500, 1000},
                                                          {trail.client, 500, 1'001'000}}));
  EXPECT_EQ(history.transactions[3].movements,
            (Movements{{trail.escrow, -998'000, 0}, {trail.client, 998'000, 1'999'000}}));
  EXPECT_EQ(history.transactions[1].key, "pay:" + (TaskId{trail.job.id, 0}).text());
  EXPECT_EQ(history.transactions[1].job, trail.job.id);
  EXPECT_EQ(history.transactions[1].time, 5);
  EXPECT_TRUE(store->audit().has_value());
}

TEST_P(StoreContract, TellsAnAccountsHistoryNewestFirstPageByPage) {
  const Trail trail;
  trail.commit_to(*store);
  const auto keys_of = [](const History& history) {
    std::vector<std::string> keys;
    for (const Posted& posted : history.transactions)
      keys.push_back(posted.key.substr(0, posted.key.find(':')));
    return keys;
  };

  const History first = store->history(trail.client, {.from = 0, .count = 2}).value();
  ASSERT_NE(first.next, 0U);
  const History second = store->history(trail.client, {.from = first.next, .count = 2}).value();
  ASSERT_NE(second.next, 0U);
  const History third = store->history(trail.client, {.from = second.next, .count = 2}).value();

  EXPECT_EQ(keys_of(first), (std::vector<std::string>{"close", "pay"}));
  EXPECT_EQ(keys_of(second), (std::vector<std::string>{"pay", "open"}));
  EXPECT_EQ(keys_of(third), (std::vector<std::string>{"issue"}));
  EXPECT_EQ(third.next, 0U);
  EXPECT_EQ(third.transactions[0].job, std::nullopt);
  EXPECT_TRUE(store->history(ledger::Account::platform(), {})->transactions.empty());
  EXPECT_EQ(store->history(trail.worker, {.from = 1, .count = 2}).error().code,
            ErrorCode::invalid_argument)
      << "the grant is not the worker's";

  const History of_job = store->history(trail.job.id, {.from = 0, .count = 3}).value();
  EXPECT_EQ(keys_of(of_job), (std::vector<std::string>{"open", "pay", "pay"}));
  EXPECT_EQ(keys_of(store->history(trail.job.id, {.from = of_job.next, .count = 3}).value()),
            (std::vector<std::string>{"close"}));
}

TEST_P(StoreContract, SaysWhatIsNotThere) {
  EXPECT_EQ(store->job(JobId()).error().code, ErrorCode::not_found);
  EXPECT_EQ(store->tasks(JobId()).error().code, ErrorCode::not_found);
  EXPECT_EQ(store->replicas(JobId()).error().code, ErrorCode::not_found);
  EXPECT_EQ(store->history(JobId(), {}).error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace weft::store
