#include "apps/cli/local_run.h"

#include <chrono>

#include "common/base/format.h"
#include "common/proof/merkle.h"
#include "engine/gpu/native/instance.h"
#include "engine/onnx/jobs/model_executor.h"

namespace weft::cli {
namespace {

using OnProgress = std::function<void(std::uint32_t, std::uint32_t)>;

std::vector<LocalOutput> describe_outputs(const manifest::Manifest& manifest) {
  std::vector<LocalOutput> outputs;
  if (manifest.kind == manifest::Kind::kernel) {
    outputs.push_back({.name = "output0",
                       .type = "i32",
                       .shape = {manifest.kernel.m, manifest.kernel.n},
                       .bytes = {}});
    return outputs;
  }
  for (const manifest::Binding& binding : manifest.bindings) {
    if (!binding.is_output()) continue;
    outputs.push_back({.name = weft::format("output{}", outputs.size()),
                       .type = std::string(to_string(binding.type)),
                       .shape = binding.shape,
                       .bytes = {}});
    // Joined outputs: the outermost dimension is multiplied by the number of tasks.
    if (binding.concat) outputs.back().shape.front() *= manifest.split.tasks;
  }
  return outputs;
}

Async<Result<LocalResult>> run_tasks(exec::Executor& executor, std::shared_ptr<const exec::Job> job,
                                     TaskSpan tasks, OnProgress progress) {
  WEFT_CO_OK(co_await executor.prepare(job));
  const auto start = std::chrono::steady_clock::now();
  LocalResult result;
  result.tasks_total = job->manifest.split.tasks;
  result.tasks = tasks;
  result.outputs = describe_outputs(job->manifest);
  std::vector<std::vector<ByteVector>> parts;
  const std::uint32_t count = tasks.last - tasks.first + 1;
  for (std::uint32_t task = tasks.first; task <= tasks.last; ++task) {
    progress(task - tasks.first, count);
    auto ran = co_await executor.run(job, {.range = manifest::task_range(job->manifest, task)});
    if (!ran) co_return pass(std::move(ran), "while running task {}", task);
    result.task_roots.push_back(proof::task_root(ran->outputs));
    result.gpu_seconds += ran->gpu_seconds;
    result.dispatches += ran->dispatches;
    parts.push_back(std::move(ran->outputs));
  }
  progress(count, count);
  std::vector<ByteVector> joined = manifest::join(job->manifest, parts);
  for (std::size_t i = 0; i < joined.size(); ++i) result.outputs[i].bytes = std::move(joined[i]);
  if (count == job->manifest.split.tasks) result.job_root = proof::root_of_roots(result.task_roots);
  result.wall_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  co_return result;
}

}  // namespace

Result<LocalResult> run_locally(std::shared_ptr<const exec::Job> job, LocalDevice where,
                                std::optional<TaskSpan> asked, const OnProgress& progress) {
  const std::uint32_t count = job->manifest.split.tasks;
  const TaskSpan tasks = asked.value_or(TaskSpan{.first = 0, .last = count - 1});
  if (tasks.first > tasks.last || tasks.last >= count) {
    return fail(ErrorCode::invalid_argument,
                "Tasks {}..{} are not a range of the job's {} tasks (0..{}).", tasks.first,
                tasks.last, count, count - 1);
  }
  // The CPU executor needs the instance only to run callbacks.
  const auto instance = gpu::native::create_instance();
  if (where == LocalDevice::cpu) {
    const auto executor = exec::create_cpu_executor({});
    auto result = gpu::run(*instance, run_tasks(*executor, std::move(job), tasks, progress));
    if (result) result->device = "cpu";
    return result;
  }
  WEFT_ASSIGN(const auto device,
              gpu::run(*instance, instance->create_device({.label = "weft run"})));
  const auto executor =
      exec::create_gpu_executor(*device, {}, onnx::create_model_executor(*device, {}));
  auto result = gpu::run(*instance, run_tasks(*executor, std::move(job), tasks, progress));
  if (result)
    result->device = weft::format(
        "{} ({})",
        device->adapter().device.empty() ? device->adapter().description : device->adapter().device,
        device->adapter().backend);
  return result;
}

}  // namespace weft::cli
