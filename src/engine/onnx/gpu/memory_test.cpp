// Tests that values share memory only if they are not needed at the same time, and that chains are
// fused only if no other node reads the values within them.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/onnx/gpu/schedule.h"
#include "engine/onnx/operators/prepare.h"

namespace weft::onnx {
namespace {

ModelNode schedule_node(std::string op, std::vector<std::string> inputs, std::string output) {
  return {.name = output,
          .op = std::move(op),
          .domain = {},
          .inputs = std::move(inputs),
          .outputs = {std::move(output)},
          .attributes = {}};
}
ValueInfo square(std::string name) {
  return {.name = std::move(name),
          .type = ElementType::f32,
          .shape = std::vector<Dimension>{{.size = 8, .symbol = {}}, {.size = 8, .symbol = {}}}};
}
struct Scheduled {
  Graph graph;
  Inference inference;
  Schedule schedule;
};
std::unique_ptr<Scheduled> scheduled(std::vector<ModelNode> nodes, std::vector<std::string> outputs,
                                     bool fuse) {
  Model model;
  model.opset = 17;
  model.nodes = std::move(nodes);
  model.inputs = {square("x")};
  for (std::string& name : outputs) model.outputs.push_back(square(std::move(name)));
  auto out = std::make_unique<Scheduled>();
  out->graph = prepare(std::move(model)).value();
  out->inference = infer(out->graph, input_shapes(out->graph).value()).value();
  const KernelContext context{.graph = out->graph, .inference = out->inference};
  out->schedule = make_schedule(context, {.fuse = fuse});
  return out;
}
std::vector<std::string> labels(const Scheduled& made) {
  std::vector<std::string> out;
  for (const Step& step : made.schedule.steps)
    for (const Kernel& kernel : step.kernels) out.push_back(kernel.label);
  return out;
}

TEST(Schedule, FusesActivationsAndResidualsBehindAProduct) {
  const auto nodes = {schedule_node("MatMul", {"x", "x"}, "p"),
                      schedule_node("Sigmoid", {"p"}, "s"), schedule_node("Mul", {"p", "s"}, "m"),
                      schedule_node("Add", {"m", "x"}, "y")};

  EXPECT_EQ(labels(*scheduled(nodes, {"y"}, true)),
            (std::vector<std::string>{"MatMul+Sigmoid+Mul+Add"}));
  EXPECT_EQ(labels(*scheduled(nodes, {"y"}, false)),
            (std::vector<std::string>{"MatMul", "Sigmoid", "Mul", "Add"}));
}

TEST(Schedule, LeavesWhatIsReadElsewhereInMemory) {
  const auto nodes = {schedule_node("MatMul", {"x", "x"}, "p"), schedule_node("Exp", {"p"}, "e"),
                      schedule_node("Transpose", {"e"}, "t"), schedule_node("Sqrt", {"e"}, "y")};

  EXPECT_EQ(labels(*scheduled(nodes, {"y", "t"}, true)),
            (std::vector<std::string>{"MatMul+Exp", "Transpose | Sqrt"}));
  EXPECT_EQ(labels(*scheduled(
                {schedule_node("MatMul", {"x", "x"}, "p"), schedule_node("Exp", {"p"}, "y")},
                {"y", "p"}, true)),
            (std::vector<std::string>{"MatMul", "Exp"}));
}

// The end of the slice is the largest i64, which exporters write for "to the end". No kernel reads
// it.
TEST(Schedule, SlicesToAnEndThatDoesNotFitInto32BitsByAKernel) {
  Model model;
  model.opset = 17;
  model.nodes = {schedule_node("Slice", {"x", "starts", "ends"}, "y")};
  model.inputs = {square("x")};
  model.outputs = {square("y")};
  const std::int64_t start = 1, end = std::numeric_limits<std::int64_t>::max();
  model.initializers = {{"starts", Tensor::of<std::int64_t>({1}, std::span(&start, 1))},
                        {"ends", Tensor::of<std::int64_t>({1}, std::span(&end, 1))}};
  const Graph graph = prepare(std::move(model)).value();
  const Inference inference = infer(graph, input_shapes(graph).value()).value();

  const Schedule schedule = make_schedule({.graph = graph, .inference = inference}, {});

  EXPECT_EQ(schedule.nodes_on_processor, 0u);
  EXPECT_EQ(inference.values[graph.outputs[0]]->shape(), (Shape{7, 8}));
}

TEST(MemoryPlan, GivesAChainOfProductsTwoSlotsAndItsInput) {
  std::vector<ModelNode> nodes = {schedule_node("MatMul", {"x", "x"}, "v0")};
  for (int i = 1; i < 8; ++i)
    nodes.push_back(schedule_node("MatMul",
                                  {"v" + std::to_string(i - 1), "v" + std::to_string(i - 1)},
                                  "v" + std::to_string(i)));
  const auto made = scheduled(nodes, {"v7"}, true);
  const KernelContext context{.graph = made->graph, .inference = made->inference};
  std::vector<bool> kept(made->graph.values.size());
  kept[made->graph.outputs[0]] = true;

  const MemoryPlan plan = plan_memory(context, made->schedule, kept);

  EXPECT_EQ(plan.slot_bytes.size(), 2u);
  EXPECT_EQ(plan.unshared_bytes, 9u * 256);
}

TEST(MemoryPlan, NeverSharesASlotBetweenValuesThatLiveAtOnce) {
  const auto nodes = {
      schedule_node("MatMul", {"x", "x"}, "a"), schedule_node("MatMul", {"x", "a"}, "b"),
      schedule_node("MatMul", {"a", "b"}, "c"), schedule_node("MatMul", {"c", "x"}, "d"),
      schedule_node("MatMul", {"d", "b"}, "y")};
  const auto made = scheduled(nodes, {"y"}, true);
  const KernelContext context{.graph = made->graph, .inference = made->inference};
  std::vector<bool> kept(made->graph.values.size());
  kept[made->graph.outputs[0]] = true;

  const MemoryPlan plan = plan_memory(context, made->schedule, kept);

  // The inputs and the output of a step, and values that later steps read, must have different
  // slots.
  for (std::size_t s = 0; s < made->schedule.steps.size(); ++s) {
    std::vector<ValueId> live = made->schedule.steps[s].kernels[0].outputs;
    for (std::size_t later = s; later < made->schedule.steps.size(); ++later)
      for (const KernelInput& input : made->schedule.steps[later].kernels[0].inputs) {
        const auto written = std::ranges::find_if(made->schedule.steps, [&](const Step& step) {
          return step.kernels[0].outputs[0] == input.value;
        });
        const bool exists = written == made->schedule.steps.end() ||
                            written - made->schedule.steps.begin() < static_cast<std::ptrdiff_t>(s);
        if (exists && !std::ranges::contains(live, input.value)) live.push_back(input.value);
      }
    for (const ValueId a : live)
      for (const ValueId b : live)
        EXPECT_TRUE(a == b || plan.slot_of[a] != plan.slot_of[b]) << "at step " << s;
  }
}

}  // namespace
}  // namespace weft::onnx
