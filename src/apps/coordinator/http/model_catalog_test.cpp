// Tests of the model catalog: which clients may add, replace and remove a model, the pages of the
// list, and the terms. (Quotas of owners with several devices: port_test.cpp.)
#include "apps/coordinator/http/model_catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/crypto/keys.h"
#include "decisions/inference/test_desk.h"
#include "platform/store/memory/memory_store.h"

namespace weft::coordinator {
namespace {

using testing::ElementsAre;

PublicKey new_key() { return crypto::KeyPair::generate().value().public_key(); }

struct ModelCatalogTest : testing::Test {
  Result<> add(const std::string& name, const PublicKey& owner, MicroCredits price = 0) {
    inference::ModelCard card = inference::card(name);
    card.owner = owner.text();
    card.price = price;
    return catalog.add(card, desk, now());
  }
  Result<> remove(const std::string& name, const PublicKey& client) {
    return catalog.remove(name, client.text(), desk, now());
  }
  std::vector<std::string> names(const ModelPage& page) const {
    std::vector<std::string> out;
    for (const auto* card : catalog.page(page).cards) out.push_back(card->name);
    return out;
  }

  std::unique_ptr<store::Store> store = store::memory::create();
  store::GroupCommit commits{*store, {}};
  jobs::Book book;
  inference::Network network;
  inference::Desk& desk = network.desk;
  ModelCatalog catalog{ModelRegistry::open(commits, {}).value(), book};
  PublicKey alice = new_key(), bob = new_key();
};

TEST_F(ModelCatalogTest, LeavesAModelToItsOwnerAndTheOperator) {
  const PublicKey chief = new_key();
  catalog.set_operator(chief.text());
  ASSERT_TRUE(add("m", alice));

  EXPECT_EQ(add("m", bob).error().code, ErrorCode::permission_denied);
  EXPECT_EQ(remove("m", bob).error().code, ErrorCode::permission_denied);
  EXPECT_EQ(remove("x", bob).error().code, ErrorCode::not_found);
  EXPECT_TRUE(add("m", alice, 5)) << "replaced";
  EXPECT_EQ(desk.models().size(), 1U);
  EXPECT_TRUE(remove("m", chief));
  EXPECT_EQ(desk.models().size(), 0U);
}

TEST_F(ModelCatalogTest, BoundsAnOwnersModelsButNotTheirReplacement) {
  catalog.set_models_per_owner(2);
  ASSERT_TRUE(add("a", alice));
  ASSERT_TRUE(add("b", alice));

  EXPECT_EQ(add("c", alice).error().code, ErrorCode::resource_exhausted);
  EXPECT_TRUE(add("b", alice, 5));
  EXPECT_TRUE(add("c", bob));
  EXPECT_EQ(catalog.count_of(alice), 2U);
}

TEST_F(ModelCatalogTest, ChargesARaisedPriceLater) {
  EXPECT_FALSE(catalog.terms("m"));
  ASSERT_TRUE(add("m", alice, 10));
  ASSERT_TRUE(add("m", alice, 20));

  const auto terms = catalog.terms("m");
  ASSERT_TRUE(terms);
  EXPECT_EQ(terms->price, 10);
  EXPECT_EQ(terms->owner, alice);
  EXPECT_EQ(terms->context, 512U);
  EXPECT_EQ(catalog.price_next("m", now()), 20);
  ASSERT_TRUE(remove("m", alice));
  EXPECT_FALSE(catalog.terms("m"));
}

TEST_F(ModelCatalogTest, PagesInTheOrderInWhichModelsWereAdded) {
  for (const char* name : {"c", "a", "b"}) ASSERT_TRUE(add(name, alice));

  EXPECT_THAT(names({.after = {}, .limit = 2}), ElementsAre("c", "a"));
  EXPECT_TRUE(catalog.page({.after = {}, .limit = 2}).has_more);
  EXPECT_THAT(names({.after = "a", .limit = 2}), ElementsAre("b"));
  EXPECT_FALSE(catalog.page({.after = "a", .limit = 2}).has_more);
  EXPECT_THAT(names({.after = "unknown", .limit = 1}), ElementsAre("c"));
}

TEST_F(ModelCatalogTest, RemovesAllModelsOfAClientAndNoOthers) {
  ASSERT_TRUE(add("a", alice));
  ASSERT_TRUE(add("b", bob));
  ASSERT_TRUE(add("c", alice));
  EXPECT_EQ(catalog.of({alice.text()}).size(), 2U);

  EXPECT_TRUE(catalog.remove_of({alice.text()}, desk, now()));

  EXPECT_THAT(names({}), ElementsAre("b"));
  EXPECT_EQ(store->load().value().models.size(), 1U) << "durable";
}

TEST_F(ModelCatalogTest, HandsStoredModelsToTheDesk) {
  ASSERT_TRUE(add("m", alice, 3));
  ModelCatalog restarted(ModelRegistry::open(commits, store->load().value().models).value(), book);
  inference::Network other;

  restarted.load(other.desk, now());

  EXPECT_EQ(other.desk.models().size(), 1U);
  EXPECT_EQ(restarted.terms("m").value_or(ModelTerms{}).price, 3);
}

}  // namespace
}  // namespace weft::coordinator
