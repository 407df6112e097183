#include "engine/onnx/gpu/stored_kernel.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "engine/onnx/gpu/binding_names.h"

namespace weft::onnx {
namespace {

// Describes how the uses of a binding in a kernel's text are changed.
struct Use {
  std::string read_as;  // Type as which 16-bit elements are read; empty: no change.
  std::string place;    // Function from index to place; empty: the index.
};
using Uses = std::map<std::string, Use, std::less<>>;  // The keys are names of bindings: a0, y1.

// Rewrites the text of a kernel by changing each use of the bindings in Uses.
class StoredText {
 public:
  StoredText(std::string_view text, const Uses& uses) : text_(text), uses_(uses) {}
  std::string run() { return through(text_.size()); }

 private:
  // Returns the changed text up to `end`.
  std::string through(std::size_t end) {
    std::string out;
    while (at_ < end) {
      const std::size_t begin = at_;
      if (!is_name_letter(text_[at_])) {
        out += text_[at_++];
        continue;
      }
      while (at_ < end && is_name_letter(text_[at_])) ++at_;
      const std::string_view name = text_.substr(begin, at_ - begin);
      const auto use = uses_.find(name);
      if (use == uses_.end() || at_ >= end || text_[at_] != '[') {
        out += name;
        continue;
      }
      out += used(std::string(name), use->second);
    }
    return out;
  }
  // Returns a changed use; the text is read from the bracket after the binding's name.
  std::string used(const std::string& name, const Use& use) {
    const std::size_t close = closing(at_);
    ++at_;
    const std::string number = through(close);
    const std::string place =
        name + "[" + (use.place.empty() ? number : use.place + "(" + number + ")") + "]";
    at_ = close + 1;
    std::size_t next = at_;
    while (next < text_.size() && text_[next] == ' ') ++next;
    const bool is_written = next + 1 < text_.size() && text_[next] == '=' && text_[next + 1] != '=';
    if (!is_written) return use.read_as.empty() ? place : use.read_as + "(" + place + ")";
    at_ = next + 1;
    const std::string value = through(text_.find(';', at_));
    if (use.read_as.empty()) return place + " =" + value;
    return weft::format("{} = f16(clamp({}, -{:.1f}, {:.1f}))", place, value, half_max, half_max);
  }
  std::size_t closing(std::size_t open) const {
    std::size_t depth = 0;
    for (std::size_t i = open; i < text_.size(); ++i) {
      if (text_[i] == '[') ++depth;
      if (text_[i] == ']' && --depth == 0) return i;
    }
    check(false, "brackets of a kernel are closed");
    return text_.size();
  }

  std::string_view text_;
  const Uses& uses_;
  std::size_t at_ = 0;
};

// Kernels with f16 factors convert what they read by f16_of() and f16_of4(). The conversion is left
// out for elements that are f16 already.
std::string without_widening(std::string text) {
  for (const auto& [wide, narrow] :
       {std::pair<std::string_view, std::string_view>("f16_of(f32(", "f16(("),
        {"f16_of4(vec4f(", "vec4<f16>(("}})
    for (std::size_t at = 0; (at = text.find(wide, at)) != std::string::npos; at += narrow.size())
      text.replace(at, wide.size(), narrow);
  return text;
}

// Returns the length of the directives with which a kernel's text begins.
std::size_t directives_of(std::string_view text) {
  std::size_t at = 0;
  while (text.substr(at).starts_with("enable ") || text.substr(at).starts_with("diagnostic("))
    at = text.find('\n', at) + 1;
  return at;
}

// The WGSL types of float elements, in 32 and 16 bits.
constexpr std::pair<std::string_view, std::string_view> float_types[] = {{"f32", "f16"},
                                                                         {"vec4f", "vec4<f16>"}};

std::string declaration(std::string_view name, std::string_view type) {
  return weft::format(" {}: array<{}>;", name, type);
}

// True if a binding's elements are floats of 32 bits.
bool is_wide(std::string_view wgsl, std::string_view name) {
  return std::ranges::any_of(float_types, [&](const auto& types) {
    return wgsl.contains(declaration(name, types.first));
  });
}

// Makes a binding's elements 16 bits wide if they are floats. Returns the type as which they are
// read.
std::optional<std::string> narrow_binding(std::string& wgsl, const std::string& name) {
  for (const auto& [wide, narrow] : float_types) {
    const std::string declared = declaration(name, wide);
    const std::size_t at = wgsl.find(declared);
    if (at == std::string::npos) continue;
    wgsl.replace(at, declared.size(), declaration(name, narrow));
    return std::string(wide);
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::uint32_t> bounded_halves_of(std::span<const std::uint32_t> floats) {
  std::vector<std::uint32_t> out((floats.size() + 1) / 2);
  for (std::size_t i = 0; i < floats.size(); ++i) {
    const float value = std::clamp(std::bit_cast<float>(floats[i]), -half_max, half_max);
    out[i / 2] |= static_cast<std::uint32_t>(Half(value).bits) << (i % 2 * 16);
  }
  return out;
}

std::optional<std::vector<std::uint32_t>> halves_of(std::span<const std::uint32_t> floats) {
  if (!std::ranges::all_of(floats, [](std::uint32_t word) {
        return std::abs(std::bit_cast<float>(word)) <= half_max;  // False for NaN.
      }))
    return std::nullopt;
  return bounded_halves_of(floats);
}

std::vector<std::uint32_t> floats_of(std::span<const std::uint32_t> words, std::size_t count) {
  std::vector<std::uint32_t> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    Half half;
    half.bits = static_cast<std::uint16_t>(words[i / 2] >> (i % 2 * 16));
    out[i] = std::bit_cast<std::uint32_t>(static_cast<float>(half));
  }
  return out;
}

bool StoredKernels::narrow_data(KernelInput& input, std::string& wgsl, const std::string& name) {
  if (!is_wide(wgsl, name)) return false;
  auto found = data_.find(input.data);
  if (found == data_.end()) {
    auto halves = halves_of(*input.data);
    found =
        data_
            .emplace(input.data,
                     halves ? std::make_shared<const std::vector<std::uint32_t>>(std::move(*halves))
                            : nullptr)
            .first;
  }
  if (found->second == nullptr || !narrow_binding(wgsl, name)) return false;
  input.data = found->second;
  return true;
}

void StoredKernels::change(Kernel& kernel) {
  std::string wgsl = kernel.wgsl, functions;
  Uses uses;
  bool narrow = false;
  const auto change_value = [&](ValueId id, const std::string& name) {
    Use use;
    if (half_[id]) use.read_as = narrow_binding(wgsl, name).value_or("");
    narrow = narrow || !use.read_as.empty();
    if (const Apart& apart = apart_[id]; apart.block > 0) {
      use.place = "place_of_" + name;
      functions +=
          weft::format("fn {}(i: u32) -> u32 {{ return i / {}u * {}u + i % {}u + {}u; }}\n",
                       use.place, apart.block, apart.pitch, apart.block, offset_of_[id]);
    }
    if (!use.read_as.empty() || !use.place.empty()) uses[name] = use;
  };
  const bool halves = std::ranges::contains(half_, true);
  for (std::size_t i = 0; i < kernel.inputs.size(); ++i) {
    const std::string name = weft::format("a{}", i);
    if (kernel.inputs[i].value != no_value) {
      change_value(kernel.inputs[i].value, name);
    } else if (halves) {
      const bool fours = wgsl.contains(weft::format(" {}: array<vec4f>;", name));
      if (!narrow_data(kernel.inputs[i], wgsl, name)) continue;
      uses[name] = {.read_as = fours ? "vec4f" : "f32", .place = {}};
      narrow = true;
    }
  }
  for (std::size_t i = 0; i < kernel.outputs.size(); ++i)
    change_value(kernel.outputs[i], weft::format("y{}", i));
  if (uses.empty()) return;
  const std::size_t directives = directives_of(wgsl);
  kernel.wgsl = (narrow ? "enable f16;\n" : "") + wgsl.substr(0, directives) + functions +
                without_widening(StoredText(wgsl.substr(directives), uses).run());
}

}  // namespace weft::onnx
