#include <limits>
#include <optional>

#include <glaze/json/write.hpp>

#include "common/base/check.h"
#include "common/base/format.h"
#include "common/manifest/manifest.h"

// The structs of a manifest that glaze writes, with the members in the order of the keys. Empty
// optionals are not written.
namespace weft::manifest::text {

struct Data {
  std::optional<std::string> base64;
  std::optional<std::string> path;
  std::optional<std::string> blob;
};
struct Binding {
  std::uint32_t binding = 0;
  std::string_view role;
  std::string_view type;
  std::vector<std::uint64_t> shape;
  std::optional<std::string> base64;
  std::optional<std::string> path;
  std::optional<std::string> blob;
  std::optional<std::uint32_t> split_dim;
  std::optional<std::string> combine;
};
struct Model {
  std::uint64_t bytes = 0;
  std::optional<std::string> base64;
  std::optional<std::string> path;
  std::optional<std::string> blob;
};
struct Stack {
  std::string name;
  std::string_view type;
  std::vector<std::uint64_t> shape;
  std::optional<std::string> base64;
  std::optional<std::string> path;
  std::optional<std::string> blob;
};
struct Step {
  std::string entry;
  std::array<std::uint32_t, 3> dispatch{};
};
struct Split {
  std::uint32_t tasks = 1;
  std::optional<std::string_view> axis;
};
struct Tolerance {
  double absolute = 0;
  double relative = 0;
};
struct Verify {
  std::variant<std::string, Tolerance> compare;
  std::uint32_t replicas = 1;
  double audit = 0;
  std::optional<std::string_view> trust;
};
struct Requires {
  std::vector<std::string> features;
  std::map<std::string, std::uint64_t> limits;
  std::uint64_t memory_bytes = 0;
};
struct Manifest {
  int weft = 1;
  std::string_view kind;
  std::string name;
  std::optional<std::map<std::string, std::string>> shader;
  std::optional<std::map<std::string, double>> constants;
  std::optional<std::map<std::string, std::vector<double>>> tune;
  std::optional<std::vector<Binding>> bindings;
  std::optional<std::vector<Step>> steps;
  std::optional<std::string> kernel;
  std::optional<std::uint32_t> m;
  std::optional<std::uint32_t> n;
  std::optional<std::uint32_t> k;
  std::optional<Data> a;
  std::optional<Data> b;
  std::optional<std::uint32_t> items;
  std::optional<Model> model;
  std::optional<std::vector<Stack>> inputs;
  std::optional<std::vector<Stack>> outputs;
  std::optional<Split> split;
  Verify verify;
  Requires requirements;
  std::uint32_t priority = 0;
  std::uint32_t deadline_s = 0;
  glz::raw_json budget;
};

}  // namespace weft::manifest::text

// "requires" is a keyword of C++.
template <>
struct glz::meta<weft::manifest::text::Manifest> {
  static constexpr std::string_view rename_key(const std::string_view key) {
    return key == "requirements" ? "requires" : key;
  }
};

namespace weft::manifest {

namespace {

template <class Target>
void write_data(const Data& data, Target& target) {
  if (const auto* given = std::get_if<Inline>(&data)) target.base64 = to_base64(given->bytes);
  if (const auto* path = std::get_if<Path>(&data)) target.path = path->path;
  if (const auto* blob = std::get_if<Blob>(&data)) target.blob = blob->hash.text();
}

// Escapes control characters, which glaze writes as they are by default although JSON forbids it.
struct WriteOptions : glz::opts {
  bool escape_control_characters = true;
};

text::Data write_operand(const Data& data) {
  text::Data out;
  write_data(data, out);
  return out;
}

std::map<std::string, std::string> write_shader(
    const std::variant<std::string, Path, Blob>& shader) {
  if (const auto* path = std::get_if<Path>(&shader)) return {{"path", path->path}};
  if (const auto* blob = std::get_if<Blob>(&shader)) return {{"blob", blob->hash.text()}};
  return {{"inline", std::get<std::string>(shader)}};
}

void write_wgsl(const Manifest& manifest, text::Manifest& out) {
  out.shader = write_shader(manifest.shader);
  if (!manifest.constants.empty()) out.constants = manifest.constants;
  if (!manifest.tune.empty()) out.tune = manifest.tune;
  bool cut = manifest.split.tasks > 1 || manifest.split.axis != Axis::x;
  out.bindings.emplace();
  for (const Binding& binding : manifest.bindings) {
    text::Binding& row = out.bindings->emplace_back();
    row.binding = binding.binding;
    row.role = to_string(binding.role);
    row.type = to_string(binding.type);
    row.shape = binding.shape;
    write_data(binding.data, row);
    row.split_dim = binding.split_dim;
    if (binding.concat) row.combine = "concat";
    cut = cut || binding.split_dim || binding.concat;
  }
  out.steps.emplace();
  for (const Step& step : manifest.steps)
    out.steps->push_back({.entry = step.entry, .dispatch = step.dispatch});
  if (cut)
    out.split = text::Split{.tasks = manifest.split.tasks, .axis = to_string(manifest.split.axis)};
}

void write_kernel(const Manifest& manifest, text::Manifest& out) {
  out.kernel = manifest.kernel.name;
  out.m = manifest.kernel.m;
  out.n = manifest.kernel.n;
  out.k = manifest.kernel.k;
  out.a = write_operand(manifest.kernel.a);
  out.b = write_operand(manifest.kernel.b);
  if (manifest.split.tasks > 1) out.split = text::Split{.tasks = manifest.split.tasks, .axis = {}};
}

void write_onnx(const Manifest& manifest, text::Manifest& out) {
  out.items = manifest.onnx.items;
  out.inputs.emplace();
  out.outputs.emplace();
  for (const Binding& binding : manifest.bindings) {
    if (&binding == &manifest.bindings.front()) {
      out.model.emplace().bytes = binding.bytes();
      write_data(binding.data, *out.model);
      continue;
    }
    text::Stack& row = (binding.is_output() ? *out.outputs : *out.inputs).emplace_back();
    row.name = binding.name;
    row.type = to_string(binding.type);
    row.shape = binding.shape;
    write_data(binding.data, row);
  }
  if (manifest.split.tasks > 1) out.split = text::Split{.tasks = manifest.split.tasks, .axis = {}};
}

}  // namespace

std::string to_json(const Manifest& manifest) {
  text::Manifest out;
  out.name = manifest.name;
  out.kind = to_string(manifest.kind);
  switch (manifest.kind) {
    case Kind::wgsl:
      write_wgsl(manifest, out);
      break;
    case Kind::kernel:
      write_kernel(manifest, out);
      break;
    case Kind::onnx:
      write_onnx(manifest, out);
      break;
  }
  if (manifest.verify.compare.exact) {
    out.verify.compare = "exact";
  } else {
    out.verify.compare = text::Tolerance{.absolute = manifest.verify.compare.absolute,
                                         .relative = manifest.verify.compare.relative};
  }
  out.verify.replicas = manifest.verify.replicas;
  out.verify.audit = manifest.verify.audit;
  if (manifest.verify.anyone) out.verify.trust = "anyone";
  out.requirements = {.features = manifest.requirements.features,
                      .limits = manifest.requirements.limits,
                      .memory_bytes = manifest.requirements.memory_bytes};
  out.priority = manifest.priority;
  out.deadline_s = manifest.deadline_s;
  out.budget = weft::format("{}.{:06}", manifest.budget / 1'000'000, manifest.budget % 1'000'000);
  std::string json;
  // glaze fails only if the buffer has no room, and a string grows.
  const auto error = glz::write<WriteOptions{}>(out, json);
  check(!error, "glaze writes a manifest");
  return json;
}

}  // namespace weft::manifest
