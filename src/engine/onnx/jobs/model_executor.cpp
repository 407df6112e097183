#include "engine/onnx/jobs/model_executor.h"

#include <algorithm>
#include <deque>

#include "engine/onnx/gpu/gpu_model.h"
#include "engine/onnx/jobs/item_tensors.h"
#include "engine/onnx/operators/prepare.h"
#include "engine/onnx/read_model.h"

namespace weft::onnx {
namespace {

constexpr std::size_t models_max = 2;

// A job's model, ready to run. It keeps the job, so that no other job has its address.
struct Opened {
  std::shared_ptr<const exec::Job> job;
  ItemTensors tensors;
  std::unique_ptr<GpuModel> model;
};

class ModelExecutor final : public exec::Executor {
 public:
  ModelExecutor(gpu::Device& device, exec::Bounds bounds) : device_(device), bounds_(bounds) {}

  Async<Result<>> prepare(std::shared_ptr<const exec::Job> job) override {
    WEFT_CO_OK(exec::fits(*job, device_, bounds_));
    WEFT_CO_OK(open(job));
    co_return Result<>();
  }

  Async<Result<exec::Output>> run(std::shared_ptr<const exec::Job> job,
                                  exec::RunOptions options) override {
    WEFT_CO_OK(exec::range_fits(*job, device_, bounds_, options));
    WEFT_CO_ASSIGN(const std::shared_ptr<Opened> opened, open(job));
    const auto began = std::chrono::steady_clock::now();
    exec::Output output;
    output.outputs.resize(opened->tensors.output_count());
    for (std::uint32_t i = 0; i < options.range.count; ++i) {
      const std::uint32_t item = options.range.first + i;
      WEFT_CO_ASSIGN(std::vector<Tensor> inputs, opened->tensors.inputs(job->data, item));
      auto results = co_await opened->model->run(std::move(inputs));
      if (!results) co_return pass(std::move(results), "while running item {}", item);
      WEFT_CO_OK(opened->tensors.append_outputs(*results, output.outputs));
      output.dispatches += static_cast<std::uint32_t>(opened->model->statistics().dispatches);
    }
    output.wall_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    output.gpu_seconds = output.wall_seconds;
    co_return output;
  }

 private:
  Result<std::shared_ptr<Opened>> open(const std::shared_ptr<const exec::Job>& job) {
    const auto known = std::ranges::find(opened_, job, [](const auto& each) { return each->job; });
    if (known != opened_.end()) {
      std::rotate(opened_.begin(), known, known + 1);
      return opened_.front();
    }
    auto read = read_model(job->data.front());
    if (!read) return pass(std::move(read), "while reading the job's model");
    WEFT_ASSIGN(Graph graph, onnx::prepare(std::move(*read)));
    WEFT_ASSIGN(ItemTensors tensors, ItemTensors::create(graph, job->manifest));
    auto model = std::make_unique<GpuModel>(
        device_, std::move(graph), GpuModel::Options{.value_bytes_max = bounds_.bytes_max});
    opened_.push_front(std::make_shared<Opened>(
        Opened{.job = job, .tensors = std::move(tensors), .model = std::move(model)}));
    if (opened_.size() > models_max) opened_.pop_back();
    return opened_.front();
  }

  gpu::Device& device_;
  const exec::Bounds bounds_;
  std::deque<std::shared_ptr<Opened>> opened_;  // The last used first.
};

}  // namespace

std::unique_ptr<exec::Executor> create_model_executor(gpu::Device& device, exec::Bounds bounds) {
  return std::make_unique<ModelExecutor>(device, bounds);
}

}  // namespace weft::onnx
