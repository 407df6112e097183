// Frames of every spoken version are read and written as their golden files say. Messages cannot
// change without a new version. A side of another version is told in one sentence how to update.
#include "common/protocol/versions.h"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "common/crypto/sha256.h"
#include "common/protocol/codec.h"
#include "common/protocol/result_frame.h"
#include "common/protocol/schema.h"

namespace weft::protocol {
namespace {

namespace fs = std::filesystem;
const fs::path testdata = fs::path(WEFT_SOURCE_DIR) / "src/common/protocol/testdata";

std::string bytes_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

TEST(Versions, GoldenFilesOfEachThatIsSpokenAreReadAndWrittenTheSame) {
  for (const std::uint32_t version : version_list()) {
    int files = 0;
    for (const auto& entry : fs::directory_iterator(testdata / ("v" + std::to_string(version)))) {
      const std::string name = entry.path().filename().string();
      SCOPED_TRACE(std::to_string(version) + "/" + name);
      const std::string bytes = bytes_of(entry.path());
      ++files;
      if (name.ends_with(".bin")) {
        const auto frame = decode_frame(as_bytes(bytes));
        ASSERT_TRUE(frame.has_value()) << frame.error().message;
        EXPECT_EQ(as_text(*encode_frame(*frame, version)), bytes);
      } else if (name.starts_with("worker.")) {
        const auto message = decode_worker_message(bytes);
        ASSERT_TRUE(message.has_value()) << message.error().message;
        EXPECT_EQ(encode(*message, version), bytes);
      } else {
        const auto message = decode_coordinator_message(bytes);
        ASSERT_TRUE(message.has_value()) << message.error().message;
        EXPECT_EQ(encode(*message, version), bytes);
      }
      if (name.ends_with(".json")) {
        EXPECT_EQ(read_head(bytes)->version, version);
      }
    }
    EXPECT_GE(files, 18) << "version " << version << " lacks golden files";
  }
}

// testdata/versions.txt has a line for each version: the digest of the schemas of its messages.
TEST(Versions, MessagesDoNotChangeWithoutANewVersion) {
  std::map<std::uint32_t, std::string> lines;
  std::ifstream file(testdata / "versions.txt");
  std::uint32_t number = 0;
  std::string digest;
  while (file >> number >> digest) {
    EXPECT_TRUE(lines.emplace(number, digest).second) << "version " << number << " has two lines";
  }
  const std::string now = crypto::sha256(as_bytes(json_schema())).text();

  ASSERT_TRUE(lines.contains(version)) << "testdata/versions.txt lacks the line of this version:\n"
                                       << version << ' ' << now;
  EXPECT_EQ(lines.at(version), now)
      << "The messages are not those of version " << version
      << ": raise `version` in hello.h and do what README.md of this folder says.";
  EXPECT_EQ(lines.rbegin()->first, version);
}

TEST(Versions, TheHighestThatBothSpeakIsChosen) {
  const VersionRange spoken{.first = 3, .last = 5};
  EXPECT_EQ(common_version(std::array{1U, 2U, 4U, 3U}, spoken), 4U);
  EXPECT_EQ(common_version(std::array{9U, 5U}, spoken), 5U);
  EXPECT_EQ(common_version(std::array{2U, 6U}, spoken), std::nullopt);
  EXPECT_EQ(common_version({}, spoken), std::nullopt);
  EXPECT_EQ(version_list(spoken), (std::vector<std::uint32_t>{3, 4, 5}));
}

TEST(Versions, TheOlderSideIsToldHowToUpdate) {
  EXPECT_EQ(
      update_sentence(WorkerKind::native, std::array{1U}, std::array{2U, 3U}),
      "This worker speaks version 1 of the protocol and the coordinator versions 2 to 3: update "
      "the worker with `git pull && ./weft work ...`.");
  EXPECT_EQ(update_sentence(WorkerKind::browser, std::array{1U}, std::array{2U}),
            "This page speaks version 1 of the protocol and the coordinator version 2: reload the "
            "page.");
  EXPECT_EQ(update_sentence(WorkerKind::native, std::array{4U, 3U}, std::array{2U}),
            "This worker speaks versions 3 to 4 of the protocol and the coordinator version 2: its "
            "operator has to update it with `git pull && ./weft serve ...`.");
}

TEST(Versions, AFrameOfAnyVersionSaysWhichItIs) {
  const auto later = read_head(
      R"({"type":"hello","v":7,"versions":[6,7],"kind":"browser","what":{"is":["new"]}})");
  ASSERT_TRUE(later.has_value());
  EXPECT_EQ(later->version, 7U);
  EXPECT_EQ(later->offered, (std::vector<std::uint32_t>{6, 7}));
  EXPECT_EQ(later->kind, WorkerKind::browser);
  EXPECT_EQ(read_head(R"({"type":"beat","v":3})")->offered, (std::vector<std::uint32_t>{3}));
  for (const std::string_view none :
       {"", "[]", "{}", R"({"type":"hello"})", R"({"v":1})", R"({"type":1,"v":1})",
        R"({"type":"hello","v":-1})", R"({"type":"hello","v":5000000000})"})
    EXPECT_FALSE(read_head(none).has_value()) << none;
}

TEST(Versions, AnErrorIsWrittenInTheOthersVersion) {
  const ErrorMessage error{.code = "unsupported", .message = "no"};
  EXPECT_EQ(encode_error(error, version), encode(CoordinatorMessage(error)));
  EXPECT_EQ(encode_error(error, 9),
            R"({"type":"error","v":9,"code":"unsupported","message":"no"})");
}

}  // namespace
}  // namespace weft::protocol
