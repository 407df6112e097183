#include "engine/onnx/gpu/join_kernels.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "engine/onnx/gpu/binding_names.h"

namespace weft::onnx {
namespace {

// The beginning of the declaration of the array that a workgroup shares: the sums of kernels, or
// the tiles of kernels with matrices.
constexpr std::string_view shared_sums = "var<workgroup> parts: array<f32, ";
constexpr std::string_view shared_tiles = "var<workgroup> stage: array<u32, ";

// Returns the number of elements if a text declares only an array that begins with `shared`.
std::optional<std::uint64_t> shared_in(std::string_view declarations, std::string_view shared) {
  std::uint64_t count = 0;
  if (!declarations.starts_with(shared)) return std::nullopt;
  declarations.remove_prefix(shared.size());
  const auto read =
      std::from_chars(declarations.data(), declarations.data() + declarations.size(), count);
  declarations.remove_prefix(static_cast<std::size_t>(read.ptr - declarations.data()));
  return declarations == ">;\n" ? std::optional(count) : std::nullopt;
}

// Returns the names of the functions that a text declares.
std::set<std::string> functions_in(std::string_view text) {
  constexpr std::string_view begin = "fn ";
  std::set<std::string> out;
  for (std::size_t at = 0; (at = text.find(begin, at)) != std::string_view::npos;) {
    at += begin.size();
    out.emplace(text.substr(at, text.find('(', at) - at));
  }
  return out;
}

class Joiner {
 public:
  // Adds a kernel. Returns false if it cannot be joined with the kernels that are already added.
  bool add(const Kernel& kernel) {
    if (kernel.parts == nullptr) return false;
    const KernelParts& parts = *kernel.parts;
    if (count_ > 0 && parts.team != team_) return false;
    team_ = parts.team;
    std::map<std::string, std::string, std::less<>> names;
    for (std::size_t i = 0; i < kernel.inputs.size(); ++i)
      names[weft::format("a{}", i)] =
          text_.input(kernel.inputs[i], std::string_view(parts.input_types[i]));
    for (std::size_t i = 0; i < kernel.outputs.size(); ++i) {
      names[weft::format("y{}", i)] = weft::format("y{}", outputs_.size());
      outputs_.push_back(kernel.outputs[i]);
      output_types_.push_back(parts.output_types[i]);
    }
    for (const std::string& helper : parts.helpers)
      if (!add_functions(renamed_bindings(helper, names))) return false;
    if (!add_declarations(renamed_bindings(parts.declarations, names))) return false;
    label_ += (label_.empty() ? "" : " | ") + kernel.label;
    functions_ += weft::format("fn part_{}(group: u32, lane: u32{}) {{\n{}}}\n", count_,
                               team_.matrices ? ", subgroup: u32, none: u32" : "",
                               renamed_bindings(parts.body, names));
    calls_ += weft::format("  if (group < {0}u) {{ part_{1}(group - {2}u, lane{3}); return; }}\n",
                           groups_ + parts.groups, count_, groups_,
                           team_.matrices ? ", subgroup, none" : "");
    groups_ += parts.groups;
    ++count_;
    return true;
  }

  Kernel kernel() {
    for (std::size_t i = 0; i < outputs_.size(); ++i) text_.output(outputs_[i], output_types_[i]);
    for (const std::string& helper : helpers_) text_.helper(helper);
    if (shared_count_ > 0) declarations_ = weft::format("{}{}>;\n", shared(), shared_count_);
    text_.set_team(team_);
    return text_.build_groups(label_, groups_, declarations_ + functions_, calls_);
  }

 private:
  bool add_functions(std::string text) {
    if (std::ranges::contains(helpers_, text)) return true;
    for (const std::string& name : functions_in(text))
      if (!known_.insert(name).second) return false;
    helpers_.push_back(std::move(text));
    return true;
  }
  bool add_declarations(const std::string& text) {
    if (text.empty()) return true;
    if (const auto count = shared_in(text, shared())) {
      shared_count_ = std::max(shared_count_, *count);
      return declarations_.empty();
    }
    if (shared_count_ > 0 || (!declarations_.empty() && declarations_ != text)) return false;
    if (declarations_.empty())
      for (const std::string& name : functions_in(text))
        if (!known_.insert(name).second) return false;
    declarations_ = text;
    return true;
  }

  [[nodiscard]] std::string_view shared() const {
    return team_.matrices ? shared_tiles : shared_sums;
  }

  KernelText text_;
  std::vector<ValueId> outputs_;
  std::vector<std::string> output_types_;
  std::vector<std::string> helpers_;
  std::set<std::string> known_;  // Names of functions.
  std::string declarations_;
  std::uint64_t shared_count_ = 0;  // Elements of the array that a workgroup shares.
  Team team_;
  std::string label_;
  std::string functions_;
  std::string calls_;
  std::uint64_t groups_ = 0;
  std::size_t count_ = 0;
};

}  // namespace

std::optional<Kernel> join_kernels(std::span<const Kernel* const> kernels) {
  Joiner joiner;
  for (const Kernel* kernel : kernels)
    if (!joiner.add(*kernel)) return std::nullopt;
  return joiner.kernel();
}

}  // namespace weft::onnx
