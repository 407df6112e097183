// Tests which results count towards standing. Each rule that excludes results has one row.
#include "decisions/trust/confirmations.h"

#include <gtest/gtest.h>

#include <array>

#include "decisions/trust/test_parts.h"

namespace weft::trust {
namespace {

double verified(PartTables& tables, std::uint8_t worker) {
  return tables.standing.book().verified(part_worker(worker), part_now);
}

TEST(Confirmations, CountByThePriceAndNotWhereARuleForbidsIt) {
  struct Row {
    const char* rule;
    MicroCredits value;
    JobTerms terms;
    double counts;
  };
  const std::vector<Row> rows = {
      {"a full price", 1000, {.replicas = 2}, 1},
      {"half a price", 500, {.replicas = 2}, 0.5},
      {"more than a price", 9000, {.replicas = 2}, 1},
      {"a price that is not known", 0, {.replicas = 2}, 0},
      {"a job that trusts anyone", 1000, {.replicas = 2, .anyone = true}, 0},
      {"a job that is no evidence", 1000, {.replicas = 2, .evidence = false}, 0},
      {"too few workers to draw from", 1000, {.replicas = 2, .eligible = [] { return 9U; }}, 0},
      {"enough workers", 1000, {.replicas = 2, .eligible = [] { return 10U; }}, 1}};
  for (const Row& row : rows) {
    PartTables tables({}, row.terms);
    tables.cases.at(part_task(0).job).value = row.value;
    Confirmations confirmations(tables);

    confirmations.by_root(part_task(0).job, part_worker(1), {.now = part_now});

    EXPECT_DOUBLE_EQ(verified(tables, 1), row.counts) << row.rule;
  }
}

TEST(Confirmations, AgreementCountsOnlyIfARootIsAmongTheWorkers) {
  for (const bool with_root : {true, false}) {
    PartTables tables;
    tables.cases.at(part_task(0).job).value = 1000;
    tables.standing.admissions().invite(part_worker(2), Invitation::verifier);
    Confirmations confirmations(tables);

    confirmations.by_agreement(part_task(0), std::array{part_worker(1), part_worker(2)}, with_root,
                               {.now = part_now});

    EXPECT_EQ(verified(tables, 1) > 0, with_root);
    EXPECT_EQ(verified(tables, 2), 0) << "a root needs none";
  }
}

TEST(Confirmations, ByHeadsAgreementCountsAsMuchAsTheOthersAreWorth) {
  RefereeSettings settings;
  settings.defences = Defences::none();
  PartTables tables(settings);
  tables.establish(2);
  Confirmations confirmations(tables);

  confirmations.by_agreement(part_task(0), std::array{part_worker(1), part_worker(2)}, false,
                             {.now = part_now});
  confirmations.by_agreement(part_task(1), std::array{part_worker(3), part_worker(4)}, false,
                             {.now = part_now});

  EXPECT_DOUBLE_EQ(verified(tables, 1), 1) << "an established worker confirms it";
  EXPECT_DOUBLE_EQ(verified(tables, 3), 0.1) << "one of the ten others that a jury has";
}

}  // namespace
}  // namespace weft::trust
