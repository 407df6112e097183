// The committed schema matches the code, so that the TypeScript types that are made from it fit.
#include "common/protocol/schema.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "common/json/json.h"

namespace weft::protocol {
namespace {

const std::string golden_path = WEFT_SOURCE_DIR "/src/common/protocol/testdata/schema.json";

TEST(Schema, IsTheCommittedFile) {
  if (std::getenv("WEFT_UPDATE_GOLDEN") != nullptr) std::ofstream(golden_path) << json_schema();
  std::ostringstream committed;
  committed << std::ifstream(golden_path).rdbuf();

  EXPECT_EQ(json_schema(), committed.str());
}

TEST(Schema, DefinesEveryNameItRefersTo) {
  const std::string text = json_schema();
  const auto root = json::parse(text);
  ASSERT_TRUE(root.has_value()) << root.error().message;
  const auto definitions = root->object({"$schema", "title", "$defs"})->get("$defs")->members();
  ASSERT_TRUE(definitions.has_value());

  const std::string_view marker = "\"#/$defs/";
  int references = 0;
  for (std::size_t at = text.find(marker); at != std::string::npos;
       at = text.find(marker, at + 1)) {
    const std::size_t begin = at + marker.size();
    const std::string name = text.substr(begin, text.find('"', begin) - begin);
    EXPECT_TRUE(std::ranges::any_of(*definitions, [&](const auto& definition) {
      return definition.first == name;
    })) << name;
    ++references;
  }
  EXPECT_GT(references, 16);
}

}  // namespace
}  // namespace weft::protocol
