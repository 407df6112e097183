// Finds data that tests use and that we did not make. Data that may be committed is in tests/data.
// Other data is read from $WEFT_DATA (default ../shared beside the repository); tests that need it
// are skipped with a message if it is missing:
//
//   const auto path = test::find_data("data/vocab/ggml-vocab-llama-spm.gguf");
//   if (!path) GTEST_SKIP() << test::missing_data("data/vocab/ggml-vocab-llama-spm.gguf");
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace weft::test {

// The path of a file, named as in $WEFT_DATA: "data/chat/expected.json",
// "models/tiny-llama-chat-q8_0.gguf". The copies in the repository are in tests/data/chat and
// tests/data/tiny.
inline std::optional<std::filesystem::path> find_data(std::string_view name) {
  const std::filesystem::path repository = WEFT_SOURCE_DIR;
  std::filesystem::path committed = repository / "tests" / name;
  if (name.starts_with("models/")) committed = repository / "tests/data/tiny" / name.substr(7);
  if (std::filesystem::exists(committed)) return committed;
  const char* folder = std::getenv("WEFT_DATA");
  std::filesystem::path other =
      (folder != nullptr ? std::filesystem::path(folder) : repository.parent_path() / "shared") /
      name;
  if (std::filesystem::exists(other)) return other;
  return std::nullopt;
}

inline std::string missing_data(std::string_view name) {
  return std::string(name) + " is missing; set WEFT_DATA to the folder that holds it.";
}

inline std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace weft::test
