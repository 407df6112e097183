// Tests that an audit trail of years is read in parts, with the same result as a single read.
#include "apps/coordinator/http/settled_work.h"

#include <gtest/gtest.h>

#include "platform/store/memory/memory_store.h"

namespace weft::coordinator {
namespace {

constexpr MicroCredits credit = 1'000'000;
constexpr std::uint32_t tasks = 20;

PublicKey named(std::uint8_t number) {
  PublicKey key;
  key.bytes.fill(number);
  return key;
}
const OwnerId client = OwnerId::of_first(named(9)), worker = OwnerId::of_first(named(1));

class SettledWorkTest : public testing::Test {
 protected:
  // Stores a job with all its tasks paid: 22 transactions.
  void SetUp() override {
    store::Job job;
    job.client = named(9);
    job.tasks = tasks;
    job.budget = 40 * credit;
    job.price = 40 * credit;
    job.units = 20;
    store::Batch batch;
    batch.jobs = {job};
    const auto post = [&](ledger::Transaction transaction) {
      batch.transactions.push_back({.transaction = std::move(transaction), .time = 1});
    };
    post(ledger::issue(client, 40 * credit, 1));
    post(ledger::open_escrow(job.id, client, 40 * credit, {.free = 40 * credit}));
    for (std::uint32_t index = 0; index < tasks; ++index) {
      const ledger::TaskPay pay{
          .task = {.job = job.id, .index = index}, .client = client, .price = 2 * credit};
      const ledger::Payee payee{.owner = worker, .amount = 2 * credit, .as = ledger::PayAs::free};
      post(ledger::pay_task(pay, std::span(&payee, 1), 1,
                            {.free = (40 - 2 * static_cast<MicroCredits>(index)) * credit}));
    }
    ASSERT_TRUE(store_->commit(batch).has_value());
  }

  static std::int64_t units_of_worker(SettledWork& work) {
    std::vector<protocol::api::SettledOwner> owners{{.owner = named(1).text()}};
    work.fill(owners);
    return owners.front().units;
  }
  static int parts_read(SettledWork& work) {
    int parts = 1;
    while (!work.read_on()) ++parts;
    return parts;
  }

  const std::unique_ptr<store::Store> store_ = store::memory::create();
  jobs::Book book_;
};

// If the trail were read at once, the first request after a start would occupy a reader's thread
// until the end.
TEST_F(SettledWorkTest, ReadsTheTrailInParts) {
  SettledWork work(*store_, book_, {.page = 2, .pages = 3});
  EXPECT_EQ(parts_read(work), 4);
  EXPECT_EQ(units_of_worker(work), 20 * 1'000'000);
  EXPECT_TRUE(work.read_on()) << "nothing is new";

  SettledWork at_once(*store_, book_, {.page = 2, .pages = 0});
  EXPECT_EQ(parts_read(at_once), 1) << "the attack";
  EXPECT_EQ(units_of_worker(at_once), 20 * 1'000'000);
}

TEST_F(SettledWorkTest, CountsNothingTwice) {
  for (const std::uint32_t page : {1U, 5U, 11U, 22U, 100U}) {
    SettledWork work(*store_, book_, {.page = page, .pages = 1});
    (void)parts_read(work);
    (void)parts_read(work);
    EXPECT_EQ(units_of_worker(work), 20 * 1'000'000) << page;
  }
}

}  // namespace
}  // namespace weft::coordinator
