#include "engine/onnx/jobs/model_executor.h"

#include <algorithm>
#include <deque>

#include "common/crypto/sha256.h"
#include "engine/onnx/gpu/gpu_model.h"
#include "engine/onnx/jobs/item_tensors.h"
#include "engine/onnx/operators/prepare.h"
#include "engine/onnx/read_model.h"

namespace weft::onnx {
namespace {

constexpr std::size_t jobs_max = 2;
constexpr std::size_t models_max = 4;
constexpr std::size_t plans_max = 2;  // Plans of one model, by input shapes.

// A model that is compiled for the device. It is kept for later jobs whose model has the same
// bytes.
struct Kept {
  Hash bytes;
  std::unique_ptr<GpuModel> model;
  std::weak_ptr<const exec::Job> latest;  // The job whose values may be on the device.
};

// A job with its model, ready to run. It keeps the job alive, so that no other job gets its
// address.
struct Opened {
  std::shared_ptr<const exec::Job> job;
  ItemTensors tensors;
  std::shared_ptr<Kept> kept;
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
    drop_unused();
    GpuModel& model = *opened->kept->model;
    if (opened->kept->latest.lock() != job) model.clear_values();
    opened->kept->latest = job;
    const auto began = std::chrono::steady_clock::now();
    exec::Output output;
    output.outputs.resize(opened->tensors.output_count());
    for (std::uint32_t i = 0; i < options.range.count; ++i) {
      const std::uint32_t item = options.range.first + i;
      WEFT_CO_ASSIGN(std::vector<Tensor> inputs, opened->tensors.inputs(job->data, item));
      auto results = co_await model.run(std::move(inputs));
      if (!results) co_return pass(std::move(results), "while running item {}", item);
      WEFT_CO_OK(opened->tensors.append_outputs(*results, output.outputs));
      output.dispatches += static_cast<std::uint32_t>(model.statistics().dispatches);
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
      const auto kept = std::ranges::find(kept_, opened_.front()->kept);
      std::rotate(kept_.begin(), kept, kept + 1);
      return opened_.front();
    }
    WEFT_ASSIGN(std::shared_ptr<Kept> kept, keep(job->data.front()));
    WEFT_ASSIGN(ItemTensors tensors, ItemTensors::create(kept->model->graph(), job->manifest));
    opened_.push_front(std::make_shared<Opened>(
        Opened{.job = job, .tensors = std::move(tensors), .kept = std::move(kept)}));
    if (opened_.size() > jobs_max) opened_.pop_back();
    return opened_.front();
  }

  // Returns the model with these bytes: the one that was compiled for an earlier job, or a new one.
  Result<std::shared_ptr<Kept>> keep(ByteSpan bytes) {
    const Hash hash = crypto::sha256(bytes);
    const auto known = std::ranges::find(kept_, hash, [](const auto& each) { return each->bytes; });
    if (known != kept_.end()) {
      std::rotate(kept_.begin(), known, known + 1);
      return kept_.front();
    }
    auto read = read_model(bytes);
    if (!read) return pass(std::move(read), "while reading the job's model");
    WEFT_ASSIGN(Graph graph, onnx::prepare(std::move(*read)));
    auto model = std::make_unique<GpuModel>(
        device_, std::move(graph),
        GpuModel::Options{.value_bytes_max = bounds_.bytes_max, .plans_max = plans_max});
    kept_.push_front(
        std::make_shared<Kept>(Kept{.bytes = hash, .model = std::move(model), .latest = {}}));
    drop_unused();
    return kept_.front();
  }

  // Drops the least recently used models while there are too many, or while their memory on the
  // device exceeds the bound of a task. The most recently used model is never dropped.
  void drop_unused() {
    while (kept_.size() > 1 &&
           (kept_.size() > models_max || device_.buffer_bytes() > bounds_.bytes_max)) {
      std::erase_if(opened_, [&](const auto& each) { return each->kept == kept_.back(); });
      kept_.pop_back();
    }
  }

  gpu::Device& device_;
  const exec::Bounds bounds_;
  std::deque<std::shared_ptr<Opened>> opened_;  // The most recently used model comes first.
  std::deque<std::shared_ptr<Kept>> kept_;      // The most recently used model comes first.
};

}  // namespace

std::unique_ptr<exec::Executor> create_model_executor(gpu::Device& device, exec::Bounds bounds) {
  return std::make_unique<ModelExecutor>(device, bounds);
}

}  // namespace weft::onnx
