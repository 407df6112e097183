// The job manifest, which says what a client wants to run. parse() takes JSON text and returns
// either a manifest that satisfies every rule of the format, or one exact sentence with the place:
// `bindings[1].shape: must not be empty (line 7, column 18)`. docs/manifest.md describes the
// format.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/base/result.h"

namespace weft::manifest {

enum class Kind : std::uint8_t { wgsl, kernel, onnx };
enum class Role : std::uint8_t { uniform, input, output, inout };
enum class ElementType : std::uint8_t { i32, u32, f32, f16, i8 };  // i8 is not allowed for wgsl.
enum class Axis : std::uint8_t { x, y, z };

[[nodiscard]] std::string_view to_string(Kind kind);
[[nodiscard]] std::string_view to_string(ElementType type);
[[nodiscard]] std::string_view to_string(Role role);
[[nodiscard]] std::string_view to_string(Axis axis);
[[nodiscard]] std::uint64_t bytes_per_element(ElementType type);

// The source of a binding's bytes. `value` and `base64` are decoded by parse(). A path is for local
// runs only, and the code that reads files resolves it. A blob is fetched by its hash.
struct Inline {
  ByteVector bytes;
  friend bool operator==(const Inline&, const Inline&) = default;
};
struct Path {
  std::string path;
  friend bool operator==(const Path&, const Path&) = default;
};
struct Blob {
  Hash hash;
  friend bool operator==(const Blob&, const Blob&) = default;
};
using Data = std::variant<std::monostate, Inline, Path, Blob>;

struct Binding {
  std::uint32_t binding = 0;  // Number in @group(0); for Kind::onnx the index in the list.
  std::string name{};         // Name in the model, for Kind::onnx only.
  Role role = Role::output;
  ElementType type = ElementType::u32;
  std::vector<std::uint64_t> shape{};  // Row-major, outermost dimension first; no zeros.
  Data data{};  // Set for uniform and input; optional for inout (zeros); never set for output.
  std::optional<std::uint32_t>
      // 0: each task computes a part of the output, cut along its outermost dimension.
      split_dim{};
  bool concat = false;  // For "combine": "concat": whole outputs are joined in the order of tasks.

  [[nodiscard]] std::uint64_t elements() const;
  [[nodiscard]] std::uint64_t bytes() const { return elements() * bytes_per_element(type); }
  [[nodiscard]] bool is_output() const { return role == Role::output || role == Role::inout; }
  friend bool operator==(const Binding&, const Binding&) = default;
};

// One dispatch. Steps run in order, and each sees the results of the steps before it.
struct Step {
  std::string entry;
  std::array<std::uint32_t, 3> dispatch{1, 1, 1};  // The numbers of workgroups in x, y and z.
  friend bool operator==(const Step&, const Step&) = default;
};

// The split of a job into tasks. A job whose text has no split has one task, and nothing is cut:
// split_dim and combine require a split, even if it is of one task.
struct Split {
  std::uint32_t tasks = 1;
  Axis axis = Axis::x;
  friend bool operator==(const Split&, const Split&) = default;
};

// The comparison of two results. exact: byte for byte. Otherwise |a - b| <= absolute + relative *
// max(|a|, |b|) for each element.
struct Compare {
  bool exact = true;
  double absolute = 0;
  double relative = 0;
  friend bool operator==(const Compare&, const Compare&) = default;
};

struct Verify {
  Compare compare;
  std::uint32_t replicas = 1;
  double audit = 0;  // The share of tasks that are audited, in [0, 1].
  // True for "trust": "anyone": a result on which any workers agree is enough for the client.
  bool anyone = false;
  friend bool operator==(const Verify&, const Verify&) = default;
};

struct Requires {
  std::vector<std::string> features;
  // The least value of each limit, by its WebGPU name.
  std::map<std::string, std::uint64_t> limits;
  std::uint64_t memory_bytes = 0;
  friend bool operator==(const Requires&, const Requires&) = default;
};

// A job that calls a built-in kernel: { "kind": "kernel", "kernel": "matmul_i8", "m", "n", "k",
// "a": {data}, "b": {data} } computes C[m][n] = A[m][k] * B[k][n], with int8 operands and an int32
// result. It is split along the rows of C.
struct Kernel {
  std::string name;
  std::uint32_t m = 0;
  std::uint32_t n = 0;
  std::uint32_t k = 0;
  Data a{};
  Data b{};
  friend bool operator==(const Kernel&, const Kernel&) = default;
};

// A job that runs an ONNX model once for each item: { "kind": "onnx", "items", "model": {data,
// "bytes"}, "inputs": [...], "outputs": [...] }. The inputs and outputs of all items are stacked
// along a new outermost dimension, and a job is cut between items. Manifest::bindings holds the
// model first (i8, [bytes]), then the inputs and the outputs; each output is cut along its
// outermost dimension.
//
// onnx_feature is the feature that a worker announces if it runs such jobs.
inline constexpr std::string_view onnx_feature = "weft-onnx";
struct OnnxRuns {
  std::uint32_t items = 0;
  friend bool operator==(const OnnxRuns&, const OnnxRuns&) = default;
};

struct Manifest {
  Kind kind = Kind::wgsl;
  std::string name;
  std::variant<std::string, Path, Blob>
      shader;  // WGSL text, or its source; empty text for kernels.
  std::map<std::string, double> constants;
  std::map<std::string, std::vector<double>>
      tune;  // Overrides that a worker may choose; they must not change results.
  // The steps of a wgsl job, at least one; empty for other kinds. `entry` and `dispatch` in a
  // manifest are one step.
  std::vector<Step> steps;
  std::vector<Binding> bindings;  // The bindings in the order of the text.
  Kernel kernel;                  // Used only by Kind::kernel.
  OnnxRuns onnx;                  // Used only by Kind::onnx.
  Split split;
  Verify verify;
  Requires requirements;
  std::uint32_t priority = 50;   // From 0 to 100; jobs of higher priority run first.
  std::uint32_t deadline_s = 0;  // Seconds until the deadline; 0: no deadline.
  MicroCredits budget = 0;       // Written in credits in the text, with at most six decimals.

  // The bytes of each output of the whole job, in the manifest's order (kernels have one).
  [[nodiscard]] std::vector<std::uint64_t> output_bytes() const;
  friend bool operator==(const Manifest&, const Manifest&) = default;
};

// The bounds of the format. A worker has its own, smaller bounds (exec::Bounds).
struct Limits {
  std::size_t text_bytes_max = 64 << 20;
  std::size_t shader_bytes_max = 1 << 20;
  std::uint32_t bindings_max = 16;
  std::uint32_t items_max = 1 << 20;
  std::uint32_t steps_max = 64;
  std::uint32_t tasks_max = 65536;
  std::uint32_t replicas_max = 7;
  std::uint32_t constants_max = 64;
  std::uint32_t tune_combinations_max = 64;
  std::uint64_t binding_bytes_max = std::uint64_t{1} << 32;
};

[[nodiscard]] Result<Manifest> parse(std::string_view json, const Limits& limits = {});

// The manifest as JSON again, with keys in a fixed order: parse(to_json(m)) == m. Inline data is
// written as base64.
[[nodiscard]] std::string to_json(const Manifest& manifest);

}  // namespace weft::manifest
