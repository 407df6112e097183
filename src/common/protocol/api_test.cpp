// Programs of others and the page read the answers of the HTTP interface. Their shape changes on
// purpose only, and the page's types (web/src/wire) are generated from the golden file.
#include "common/protocol/api.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace weft::protocol::api {
namespace {

const std::string golden_path = WEFT_SOURCE_DIR "/src/common/protocol/testdata/api_schema.json";

TEST(ApiSchema, IsTheOneThatThePageIsGeneratedFrom) {
  const std::string schema = api_schema();
  if (std::getenv("WEFT_UPDATE_GOLDEN") != nullptr)
    std::ofstream(golden_path, std::ios::binary) << schema;
  std::ostringstream golden;
  golden << std::ifstream(golden_path, std::ios::binary).rdbuf();

  EXPECT_EQ(schema, golden.str())
      << "WEFT_UPDATE_GOLDEN=1 rewrites the file; then run npm run wire-types in web/.";
}

TEST(Api, EscapesControlCharactersThatStrangersPutIntoTheirNames) {
  Worker worker;
  worker.description = std::string("a\x01\n\"b");

  const std::string text = to_json(Workers{.workers = {worker}});

  EXPECT_TRUE(std::ranges::none_of(text, [](char c) {
    return static_cast<unsigned char>(c) < 0x20;
  })) << text;
  EXPECT_EQ(from_json<Workers>(text).value().workers.at(0).description, worker.description);
}

TEST(Api, ReadsWhatItWritesAndPassesOverKeysOfNewerCoordinators) {
  Worker worker;
  worker.key = "K";
  worker.balance = 25;
  const Workers workers{.workers = {worker}};

  const auto same = from_json<Workers>(to_json(workers));
  const auto newer = from_json<Ledger>(R"({"sum":0,"balances":[],"currency":"credits"})");

  ASSERT_TRUE(same.has_value());
  ASSERT_EQ(same->workers.size(), 1U);
  EXPECT_EQ(same->workers[0].key, "K");
  EXPECT_EQ(same->workers[0].balance, 25);
  ASSERT_TRUE(newer.has_value());
  EXPECT_EQ(newer->sum, 0);
}

TEST(Api, RefusesWhatIsNoSuchDocument) {
  EXPECT_FALSE(from_json<Ledger>("[]").has_value());
  EXPECT_FALSE(from_json<Ledger>(R"({"sum":"nothing"})").has_value());
}

}  // namespace
}  // namespace weft::protocol::api
