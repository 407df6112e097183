// The values of tests/data/camera/golden.json, which the page's own code computed
// (web/src/features/vision/sharing/golden.test.ts). For tests of this folder only.
#pragma once

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/check.h"
#include "common/json/json.h"

namespace weft::worker::test {

inline const std::string& golden_file() {
  static const std::string text = [] {
    const std::ifstream in(WEFT_SOURCE_DIR "/tests/data/camera/golden.json");
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
  }();
  return text;
}

inline json::Value golden_value(std::string_view key) {
  const auto root = json::parse(golden_file()).value();
  const auto object =
      root.object({"link", "id", "camera", "helper", "offer", "answer", "sealedOffer",
                   "sealedAnswer", "cameraRecords", "helperRecords", "records"})
          .value();
  return object.get(key).value();
}
inline std::string golden_text(std::string_view key) {
  return golden_value(key).string({.bytes_max = 16384}).value();
}
inline std::vector<std::string> golden_texts(std::string_view key) {
  std::vector<std::string> out;
  for (const json::Value& each : golden_value(key).array().value())
    out.push_back(each.string({.bytes_max = 16384}).value());
  return out;
}
inline std::string golden_text(std::string_view key, std::string_view member) {
  const json::Value value = golden_value(key);
  const auto object = value.object({"secret", "point", "attempt", "publicKey", "sdp"}).value();
  return object.get(member).value().string({.bytes_max = 16384}).value();
}

template <class Fixed>
Fixed fixed(std::string_view hex) {
  Fixed out;
  const ByteVector bytes = from_hex(hex).value();
  check(bytes.size() == out.bytes.size(), "the golden file has the right sizes");
  std::ranges::copy(bytes, out.bytes.begin());
  return out;
}

}  // namespace weft::worker::test
