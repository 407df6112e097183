// The plans that a model is bound to so far: one for each set of what decides about a plan
// (input_rules.h), the longest unused of which goes first. Private to the folder.
//
// Threading: the device's thread. Lifetime: what it is made from outlives it. Bounds:
// GpuModel::Options::plans_max.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/onnx/gpu/plan_binder.h"

namespace weft::onnx {

class BoundPlans {
 public:
  // `graph`: its constants leave with the first plan where Options::release_constants says so.
  BoundPlans(gpu::Device& device, Graph& graph, const InputRules& rules,
             const GpuModel::Options& options)
      : device_(device),
        graph_(graph),
        rules_(rules),
        options_(options),
        binder_(device, graph, rules, options) {}

  // Valid until the next call. Fails as PlanBinder::bind() does, and with unsupported for a plan
  // other than the one with which constants left.
  [[nodiscard]] Async<Result<ModelPlan*>> plan_for(const std::vector<Tensor>& inputs);
  // Overwrites what runs left in all plans with zeros.
  void clear_values();
  [[nodiscard]] const ConvolutionChoices& choices() const { return binder_.choices(); }

 private:
  void release_constants(ModelPlan& plan);

  gpu::Device& device_;
  Graph& graph_;
  const InputRules& rules_;
  const GpuModel::Options& options_;
  PlanBinder binder_;
  std::map<std::string, std::unique_ptr<ModelPlan>> plans_;
  std::uint64_t uses_ = 0;
  std::uint64_t plans_bound_ = 0;
  bool released_ = false;  // Constants are on the device alone.
};

}  // namespace weft::onnx
