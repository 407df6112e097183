// The plans to which a model has been bound: one for each key of the inputs (input_rules.h). If
// there are too many, the plan that has been unused for longest is dropped. Private to the folder.
//
// Threading: the device's thread. Lifetime: the arguments of the constructor outlive it. Bounds:
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
  // The constants of `graph` are removed after the first plan is bound if
  // Options::release_constants is set.
  BoundPlans(gpu::Device& device, Graph& graph, const InputRules& rules,
             const GpuModel::Options& options)
      : device_(device),
        graph_(graph),
        rules_(rules),
        options_(options),
        binder_(device, graph, rules, options) {}

  // Returns the plan for these inputs, valid until the next call. Fails as PlanBinder::bind() does,
  // and with unsupported if the constants have been released and the inputs need another plan.
  [[nodiscard]] Async<Result<ModelPlan*>> plan_for(const std::vector<Tensor>& inputs);
  // Overwrites the values that runs left in all plans with zeros.
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
  bool released_ = false;  // True if only the device still holds the constants.
};

}  // namespace weft::onnx
