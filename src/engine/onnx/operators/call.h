// One execution of a node: an operator reads its inputs and attributes from a Call and writes its
// outputs to the Call. An operator first checks its inputs, then makes its outputs, and then fills
// the outputs unless only shapes are wanted. One function therefore both infers shapes and
// computes.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/onnx/graph.h"

namespace weft::onnx {

// Large: it has an accessor for each kind of input and attribute, a line or two each.
class Call {
 public:
  struct Options {
    std::int64_t opset = 0;
    bool shapes_only = false;  // Inputs may lack bytes; outputs are not filled.
  };
  // `inputs` holds a null for each input that is not given. The arguments outlive the call.
  Call(const Node& node, std::span<const Tensor* const> inputs, Options options)
      : node_(node), inputs_(inputs), options_(options), outputs_(node.outputs.size()) {}
  Call(const Call&) = delete;

  [[nodiscard]] const Node& node() const { return node_; }
  [[nodiscard]] std::int64_t opset() const { return options_.opset; }
  [[nodiscard]] std::size_t input_count() const { return inputs_.size(); }
  [[nodiscard]] const Tensor* optional_input(std::size_t i) const {
    return i < inputs_.size() ? inputs_[i] : nullptr;
  }
  // Returns an input that the table of operators requires to be given.
  [[nodiscard]] const Tensor& input(std::size_t i) const {
    const Tensor* tensor = optional_input(i);
    check(tensor != nullptr, "a required input is there");
    return *tensor;
  }
  // Returns the elements of input i, for operators whose output shapes depend on them. Fails with
  // unavailable if the elements are not known yet, and with invalid_argument if they are not
  // integers.
  [[nodiscard]] Result<std::vector<std::int64_t>> integers_of(std::size_t i) const;
  [[nodiscard]] Result<std::vector<double>> numbers_of(std::size_t i) const;

  [[nodiscard]] bool wants(std::size_t output) const {
    return output < node_.outputs.size() && node_.outputs[output] != no_value;
  }
  [[nodiscard]] std::size_t output_count() const { return node_.outputs.size(); }
  // Makes an output of zeros, or an output without bytes if only shapes are asked for.
  [[nodiscard]] Result<Tensor*> make(std::size_t output, ElementType type, Shape shape);
  // Makes an output that shares an input's bytes.
  void share(std::size_t output, Tensor tensor) { outputs_[output] = std::move(tensor); }
  // True if the outputs must not be filled.
  [[nodiscard]] bool shapes_only() const { return options_.shapes_only; }
  [[nodiscard]] std::vector<std::optional<Tensor>>& outputs() { return outputs_; }

  // The functions below return an attribute by its name, or `otherwise` if the node does not have
  // it. The table of operators has checked the kind of each attribute before an operator runs.
  [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  [[nodiscard]] float number(std::string_view name, float otherwise) const;
  [[nodiscard]] std::string text(std::string_view name, std::string_view otherwise) const;
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view name) const;
  [[nodiscard]] std::vector<float> numbers(std::string_view name) const;
  [[nodiscard]] const Tensor* tensor(std::string_view name) const;
  template <class Kind>
  [[nodiscard]] const Kind* attribute(std::string_view name) const {
    const Attribute* found = find(name);
    return found == nullptr ? nullptr : std::get_if<Kind>(found);
  }

  // Converts an axis from [-rank, rank - 1] to [0, rank - 1]. Fails if it is outside this range.
  [[nodiscard]] Result<std::int64_t> axis(std::int64_t value, std::int64_t rank) const;

  // Makes an invalid_argument error whose message begins with the node: "Node 'conv1' (Conv): ...".
  template <class... Args>
  [[nodiscard]] std::unexpected<Error> error(FormatString<Args...> pattern, Args&&... args) const {
    return located(ErrorCode::invalid_argument, weft::format(pattern, std::forward<Args>(args)...));
  }
  [[nodiscard]] std::unexpected<Error> located(ErrorCode code, std::string message) const;
  // Makes the error of an operator that is not defined for the type of this input.
  [[nodiscard]] std::unexpected<Error> bad_type(std::size_t input) const;

 private:
  [[nodiscard]] const Attribute* find(std::string_view name) const;

  const Node& node_;
  std::span<const Tensor* const> inputs_;
  const Options options_;
  std::vector<std::optional<Tensor>> outputs_;
};

}  // namespace weft::onnx
