// ONNX's own test cases for its operators (data/onnx-node of $WEFT_DATA). A case is a model of one
// node, its inputs and the expected outputs.
#pragma once

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>
#include <zlib.h>

#include "common/base/test_data.h"
#include "engine/onnx/read_model.h"

namespace weft::onnx::test {

using weft::test::find_data;
using weft::test::missing_data;
using weft::test::read_bytes;

inline std::string unzip(const std::filesystem::path& path) {
  std::string out;
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return out;
  std::vector<char> part(1 << 20);
  for (int got = 0; (got = gzread(file, part.data(), static_cast<unsigned>(part.size()))) > 0;)
    out.append(part.data(), static_cast<std::size_t>(got));
  gzclose(file);
  return out;
}

// Returns the files of a .tar.gz by name.
inline std::map<std::string, std::string> read_archive(const std::filesystem::path& path) {
  const std::string tar = unzip(path);
  std::map<std::string, std::string> files;
  for (std::size_t at = 0; at + 512 <= tar.size() && tar[at] != 0;) {
    std::string name(tar.c_str() + at, strnlen(tar.c_str() + at, 100));
    // The ustar format stores the first part of a long name in a separate field.
    const std::string front(tar.c_str() + at + 345, strnlen(tar.c_str() + at + 345, 155));
    if (!front.empty()) name.insert(0, "/").insert(0, front);
    const std::size_t size = std::stoull(tar.substr(at + 124, 11), nullptr, 8);
    if (tar[at + 156] == '0') files[name] = tar.substr(at + 512, size);
    at += 512 + (size + 511) / 512 * 512;
  }
  return files;
}

struct NodeCase {
  std::string name;
  std::string model;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
};

// Reads a folder of cases as ONNX publishes them: NAME/model.onnx, NAME/test_data_set_0/input_0.pb,
// ...
inline std::vector<NodeCase> read_cases(const std::map<std::string, std::string>& files) {
  std::vector<NodeCase> cases;
  for (const auto& [path, bytes] : files) {
    if (!path.ends_with("/model.onnx")) continue;
    NodeCase found{path.substr(0, path.find('/')), bytes, {}, {}};
    const auto all = [&](const char* kind) {
      std::vector<std::string> out;
      while (true) {
        const auto file = files.find(found.name + "/test_data_set_0/" + kind +
                                     std::to_string(out.size()) + ".pb");
        if (file == files.end()) return out;
        out.push_back(file->second);
      }
    };
    found.inputs = all("input_");
    found.outputs = all("output_");
    cases.push_back(std::move(found));
  }
  return cases;
}

// Describes the first difference beyond the tolerance of ONNX's own runner: rtol 1e-3 and atol 1e-4
// (1e-2 for f16); integers must be equal. Returns an empty text if there is no difference.
inline std::string difference(const Tensor& got, const Tensor& expected) {
  if (got.type() != expected.type())
    return "is of type " + std::string(to_string(got.type())) + ", not " +
           std::string(to_string(expected.type()));
  if (got.shape() != expected.shape())
    return "is of shape " + to_string(got.shape()) + ", not " + to_string(expected.shape());
  const bool half = got.type() == ElementType::f16;
  for (std::int64_t i = 0; i < got.count(); ++i) {
    const double a = got.number(i), b = expected.number(i);
    const bool same =
        a == b || (std::isnan(a) && std::isnan(b)) ||
        (is_float(got.type()) && std::isfinite(b) &&
         std::abs(a - b) <= (half ? 1e-2 : 1e-4) + (half ? 1e-2 : 1e-3) * std::abs(b));
    if (!same) return weft::format("element {} is {}, not {}", i, a, b);
  }
  return {};
}

}  // namespace weft::onnx::test
