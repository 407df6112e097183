#include "apps/worker/web/lab.h"

#include <utility>
#include <vector>

#include "apps/worker/web/lab_json.h"
#include "common/base/format.h"
#include "common/manifest/manifest.h"
#include "common/manifest/split.h"
#include "common/proof/merkle.h"
#include "engine/gpu/report.h"
#include "engine/gpu/web/instance.h"
#include "worker/tasks/capabilities.h"

namespace weft::worker::web {
namespace {

// The bounds keep a manifest from exhausting the machine.
constexpr exec::Bounds bounds = {.binding_bytes_max = std::uint64_t{256} << 20,
                                 .bytes_max = std::uint64_t{1} << 30};

Result<ByteVector> given_bytes(const manifest::Data& data, std::string_view what) {
  if (const auto* given = std::get_if<manifest::Inline>(&data)) return given->bytes;
  if (std::holds_alternative<std::monostate>(data)) return ByteVector();
  return fail(ErrorCode::invalid_argument,
              "{} is a file or a blob; a run in the browser takes data only as numbers or base64.",
              what);
}

Result<std::shared_ptr<const exec::Job>> read_job(std::string_view text) {
  auto job = std::make_shared<exec::Job>();
  WEFT_ASSIGN(job->manifest, manifest::parse(text));
  if (job->manifest.kind == manifest::Kind::kernel) {
    WEFT_ASSIGN(ByteVector a, given_bytes(job->manifest.kernel.a, "a"));
    WEFT_ASSIGN(ByteVector b, given_bytes(job->manifest.kernel.b, "b"));
    job->data.push_back(std::move(a));
    job->data.push_back(std::move(b));
    return job;
  }
  const auto* shader = std::get_if<std::string>(&job->manifest.shader);
  if (shader == nullptr)
    return fail(ErrorCode::invalid_argument, "shader: here its text is given \"inline\".");
  job->shader = *shader;
  for (std::size_t i = 0; i < job->manifest.bindings.size(); ++i) {
    WEFT_ASSIGN(ByteVector bytes,
                given_bytes(job->manifest.bindings[i].data, weft::format("bindings[{}]", i)));
    job->data.push_back(std::move(bytes));
  }
  return job;
}

std::vector<LabOutput> describe_outputs(const manifest::Manifest& manifest) {
  if (manifest.kind == manifest::Kind::kernel)
    return {{.name = "output0", .type = "i32", .shape = {manifest.kernel.m, manifest.kernel.n}}};
  std::vector<LabOutput> outputs;
  for (const manifest::Binding& binding : manifest.bindings) {
    if (!binding.is_output()) continue;
    outputs.push_back({.name = weft::format("output{}", outputs.size()),
                       .type = std::string(to_string(binding.type)),
                       .shape = binding.shape});
    if (binding.concat) outputs.back().shape.front() *= manifest.split.tasks;
  }
  return outputs;
}

}  // namespace

Async<Result<>> Lab::need_device() {
  if (device_ && !device_->lost()) co_return Result<>();
  if (running_)
    co_return fail(ErrorCode::device_lost,
                   "The GPU device is lost; a run on it must end before a new device is made.");
  executor_.reset();
  device_.reset();
  if (!instance_) instance_ = gpu::web::create_instance();
  WEFT_CO_ASSIGN(auto device, co_await instance_->create_device({.label = "weft playground"}));
  if (device_) co_return Result<>();  // Another call has opened the device while this one waited.
  device_ = std::move(device);
  executor_ = exec::create_gpu_executor(*device_, bounds);
  co_return Result<>();
}

Async<Result<std::string>> Lab::open() {
  WEFT_CO_OK(co_await need_device());
  protocol::Capabilities capabilities = capabilities_of(*device_, bounds.bytes_max);
  if (capabilities.description.empty())
    capabilities.description = capabilities.vendor + " " + capabilities.architecture;
  co_return opened_json(capabilities, device_->has("timestamp-query"));
}

Async<Result<std::string>> Lab::compile(std::string wgsl) {
  WEFT_CO_OK(co_await need_device());
  WEFT_CO_ASSIGN(const auto messages, co_await device_->compile_messages(std::move(wgsl)));
  co_return messages_json(messages);
}

Async<Result<std::string>> Lab::check(std::string manifest) {
  WEFT_CO_ASSIGN(const auto job, read_job(manifest));
  WEFT_CO_OK(co_await need_device());
  WEFT_CO_OK(co_await executor_->prepare(job));
  co_return std::string("{}");
}

Async<Result<std::string>> Lab::run(std::string manifest, bool cpu, TakeOutput take) {
  WEFT_CO_ASSIGN(const auto job, read_job(manifest));
  if (running_)
    co_return fail(ErrorCode::unavailable,
                   "Another run or measurement is not finished; wait until it ends.");
  std::unique_ptr<exec::Executor> processor;
  if (cpu) {
    processor = exec::create_cpu_executor(bounds);
  } else {
    WEFT_CO_OK(co_await need_device());
  }
  if (running_)
    co_return fail(ErrorCode::unavailable,
                   "Another run or measurement is not finished; wait until it ends.");
  running_ = true;
  struct Guard {
    bool& running;
    ~Guard() { running = false; }
  } guard{running_};
  exec::Executor& executor = cpu ? *processor : *executor_;
  WEFT_CO_OK(co_await executor.prepare(job));
  LabRun ran{.name = job->manifest.name,
             .outputs = describe_outputs(job->manifest),
             .tasks = job->manifest.split.tasks,
             .root = {}};
  // A device without timestamp queries makes exec measure wall time, as does a clock that is too
  // coarse for the task.
  ran.by_timestamps = !cpu && device_->has("timestamp-query");
  std::vector<std::vector<ByteVector>> parts;
  std::vector<Hash> roots;
  for (std::uint32_t task = 0; task < ran.tasks; ++task) {
    auto output = co_await executor.run(job, {.range = manifest::task_range(job->manifest, task)});
    if (!output) co_return pass(std::move(output), "while running task {}", task);
    if (output->gpu_seconds == output->wall_seconds) ran.by_timestamps = false;
    ran.gpu_seconds += output->gpu_seconds;
    ran.wall_seconds += output->wall_seconds;
    ran.dispatches += output->dispatches;
    roots.push_back(proof::task_root(output->outputs));
    parts.push_back(std::move(output->outputs));
  }
  ran.root = proof::root_of_roots(roots).text();
  for (const ByteVector& bytes : manifest::join(job->manifest, parts)) take(bytes);
  co_return run_json(ran);
}

Async<Result<std::string>> Lab::measure() {
  WEFT_CO_OK(co_await need_device());
  if (running_)
    co_return fail(ErrorCode::unavailable,
                   "Another run or measurement is not finished; wait until it ends.");
  running_ = true;
  auto report = co_await gpu::measure(*device_);
  running_ = false;
  if (!report) co_return pass(std::move(report));
  co_return report_json(*report);
}

}  // namespace weft::worker::web
