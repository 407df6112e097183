#include "worker/sandbox/sandbox_child.h"

#include <charconv>
#include <cstdio>
#include <deque>
#include <memory>
#include <string_view>
#include <unistd.h>

#include "common/base/log.h"
#include "engine/gpu/native/instance.h"
#include "engine/gpu/report.h"
#include "engine/onnx/jobs/model_executor.h"
#include "worker/sandbox/confinement.h"
#include "worker/sandbox/detector_service.h"
#include "worker/sandbox/driver_files.h"
#include "worker/sandbox/sandbox.h"
#include "worker/sandbox/sandbox_wire.h"
#include "worker/sandbox/spawn.h"
#include "worker/sandbox/text_service.h"
#include "worker/tasks/capabilities.h"

namespace weft::worker {
namespace {

constexpr std::uint64_t request_bytes_max =
    std::uint64_t{4}  // Bounds an error of the parent, which is trusted.
    << 30;
// Memory of a driver and its compiler besides the task's own bytes; on a software GPU it includes
// the buffers.
constexpr std::uint64_t driver_bytes = std::uint64_t{768} << 20;

// The address sanitizer maps terabytes of shadow memory, which count as data.
#ifdef __SANITIZE_ADDRESS__
constexpr bool memory_is_bounded = false;
#else
constexpr bool memory_is_bounded = true;
#endif

struct Arguments {
  int socket = -1;
  std::uint64_t memory_bytes = 0;
  pid_t parent = 0;
  std::optional<std::size_t> adapter;  // Number of the GPU; empty: the best one.
  Sandbox::Duty duty = Sandbox::Duty::shaders;
};

template <class Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  return status == std::errc() && end == text.data() + text.size();
}

bool read_arguments(std::span<char* const> given, Arguments& arguments) {
  if (given.size() < 3 || !read_number(given[0], arguments.socket) ||
      !read_number(given[1], arguments.memory_bytes) || !read_number(given[2], arguments.parent))
    return false;
  std::span<char* const> rest = given.subspan(3);
  if (!rest.empty()) {
    const std::string_view word = rest.front();
    using enum Sandbox::Duty;
    arguments.duty = word == "texts"                   ? texts
                     : word == "detector"              ? detector
                     : word == "detector-on-processor" ? detector_on_processor
                                                       : shaders;
    if (arguments.duty != shaders) rest = rest.subspan(1);
  }
  return rest.empty() ||
         (rest.size() == 1 && read_number(rest.front(), arguments.adapter.emplace()));
}

bool send_frame(int socket, FrameKind kind, ByteSpan payload) {
  return write_frame(socket, kind, payload, Instant::max(), [] {}).has_value();
}

// Answers the parent's requests until it closes the socket, or until `lives` is false.
template <class Answer, class Lives>
void serve_parent(int socket, Answer answer, Lives lives) {
  for (;;) {
    const auto request = read_frame(socket, request_bytes_max, Instant::max(), [] {});
    if (!request) return;
    const Result<ByteVector> reply = answer(*request);
    const bool sent = reply ? send_frame(socket, FrameKind::done, *reply)
                            : send_frame(socket, FrameKind::failed, pack_error(reply.error()));
    if (!sent || !lives()) return;
  }
}

class Child {
 public:
  Child(int socket, exec::Bounds bounds) : socket_(socket), bounds_(bounds) {}

  Result<> open_device(std::optional<std::size_t> adapter) {
    instance_ = gpu::native::create_instance();
    WEFT_ASSIGN(device_,
                gpu::run<Result<std::unique_ptr<gpu::Device>>>(
                    *instance_, instance_->create_device({.label = "weft sandbox"}, adapter)));
    executor_ = exec::create_gpu_executor(*device_, bounds_,
                                          onnx::create_model_executor(*device_, bounds_));
    return {};
  }

  // Serves until the parent closes the socket or the device is lost; both end this process.
  void serve() {
    serve_parent(
        socket_, [this](const Frame& request) { return answer(request); },
        [this] { return !device_->lost(); });
  }
  // Serves the requests of a detector in the same way.
  void detect() {
    DetectorService service(instance_.get(), device_.get());
    serve_parent(
        socket_, [&](const Frame& request) { return service.answer(request); },
        [this] { return !device_->lost(); });
  }

 private:
  Result<ByteVector> answer(const Frame& request) {
    switch (request.kind) {
      case FrameKind::describe:
        return describe();
      case FrameKind::load:
        return load(request.payload);
      case FrameKind::run:
        return run(request.payload);
      case FrameKind::check:
        return check_job(request.payload);
      default:
        return fail(ErrorCode::internal, "The sandbox does not know the request {}.",
                    static_cast<std::uint32_t>(request.kind));
    }
  }

  Result<ByteVector> describe() {
    WEFT_ASSIGN(const gpu::Report report,
                gpu::run<Result<gpu::Report>>(*instance_, gpu::measure(*device_)));
    protocol::Capabilities capabilities = capabilities_of(*device_, bounds_.bytes_max);
    capabilities.copy_gb_per_s = report.copy_bytes_per_second * 1e-9;
    capabilities.features.emplace_back(manifest::onnx_feature);
    capabilities.f32_gflop_per_s = report.f32_operations_per_second * 1e-9;
    const std::string text = protocol::encode(capabilities);
    const ByteSpan bytes = as_bytes(text);
    return ByteVector(bytes.begin(), bytes.end());
  }

  Result<> prepare(const std::shared_ptr<const exec::Job>& job) {
    return gpu::run<Result<>>(*instance_, executor_->prepare(job));
  }

  Result<ByteVector> load(ByteSpan payload) {
    Unpacker in(payload);
    WEFT_ASSIGN(const std::uint64_t id, in.number());
    WEFT_ASSIGN(const ByteSpan packed, in.bytes());
    WEFT_ASSIGN(exec::Job job, unpack_job(packed));
    auto shared = std::make_shared<const exec::Job>(std::move(job));
    // The job is kept even if it does not compile, because the parent keeps the same list of jobs.
    jobs_.emplace_back(id, shared);
    if (jobs_.size() > loaded_jobs_max) jobs_.pop_front();
    WEFT_OK(prepare(shared));
    return ByteVector();
  }

  Result<ByteVector> run(ByteSpan payload) {
    Unpacker in(payload);
    WEFT_ASSIGN(const std::uint64_t id, in.number());
    WEFT_ASSIGN(const std::uint64_t first, in.number());
    WEFT_ASSIGN(const std::uint64_t count, in.number());
    WEFT_ASSIGN(const std::uint64_t piece, in.number());
    exec::RunOptions options{.range = {.first = static_cast<std::uint32_t>(first),
                                       .count = static_cast<std::uint32_t>(count)},
                             .piece_workgroups_max = static_cast<std::uint32_t>(piece)};
    WEFT_ASSIGN(const std::uint64_t step_first, in.number());
    WEFT_ASSIGN(const std::uint64_t step_count, in.number());
    WEFT_ASSIGN(options.bytes_max, in.number());
    WEFT_ASSIGN(const std::uint64_t states, in.number());
    options.step_first = static_cast<std::uint32_t>(step_first);
    options.step_count = static_cast<std::uint32_t>(step_count);
    std::vector<ByteVector> state;
    for (std::uint64_t i = 0; i < states; ++i) {
      WEFT_ASSIGN(const ByteSpan bytes, in.bytes());
      state.emplace_back(bytes.begin(), bytes.end());
    }
    if (states > 0)
      options.state = std::make_shared<const std::vector<ByteVector>>(std::move(state));
    for (const auto& [known, job] : jobs_) {
      if (known != id) continue;
      WEFT_ASSIGN(const exec::Output output,
                  gpu::run<Result<exec::Output>>(*instance_, executor_->run(job, options)));
      return pack_output(output);
    }
    return fail(ErrorCode::internal, "The sandbox does not hold the job {}.", id);
  }

  // Adds empty data, because compiling needs none, but a job is valid only with data of the right
  // size. An onnx job has its model in the place of a shader.
  Result<ByteVector> check_job(ByteSpan payload) {
    WEFT_ASSIGN(exec::Job job, unpack_job(payload));
    job.data.assign(job.manifest.bindings.size(), {});
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < job.data.size(); ++i) {
      const manifest::Binding& binding = job.manifest.bindings[i];
      if (binding.is_output()) continue;
      bytes += binding.bytes();
      if (binding.bytes() > bounds_.bytes_max || bytes > bounds_.bytes_max) {
        return fail(ErrorCode::resource_exhausted,
                    "The job's inputs take {} bytes; a task may take {} (bytes_max).", bytes,
                    bounds_.bytes_max);
      }
      job.data[i].resize(static_cast<std::size_t>(binding.bytes()));
    }
    if (job.manifest.kind == manifest::Kind::onnx) {
      const ByteSpan model = as_bytes(job.shader);
      job.data.front().assign(model.begin(), model.end());
    }
    WEFT_OK(prepare(std::make_shared<const exec::Job>(std::move(job))));
    return ByteVector();
  }

  int socket_;
  const exec::Bounds bounds_;
  std::unique_ptr<gpu::PumpedInstance> instance_;
  std::unique_ptr<gpu::Device> device_;
  std::unique_ptr<exec::Executor> executor_;
  std::deque<std::pair<std::uint64_t, std::shared_ptr<const exec::Job>>> jobs_;
};

}  // namespace

int sandbox_child_main(std::span<char* const> given, ConfinementOptions confinement) {
  Arguments arguments;
  if (!read_arguments(given, arguments)) {
    std::fputs("sandbox-child is started by weft itself.\n", stderr);
    return 2;
  }
  if (memory_is_bounded) confinement.data_bytes_max = arguments.memory_bytes + driver_bytes;
  const bool has_device =
      arguments.duty == Sandbox::Duty::shaders || arguments.duty == Sandbox::Duty::detector;
  const auto drivers = has_device ? driver_files() : std::vector<std::filesystem::path>();
  std::vector<MissingPart> missing;
  if (!enter_confined_child(arguments.parent, arguments.socket, confinement, missing)) return 0;
  const auto say_ready = [&] {
    return send_frame(arguments.socket, FrameKind::ready, pack_missing(missing));
  };
  const auto serve_without_device = [&](auto service) {
    if (say_ready())
      serve_parent(
          arguments.socket, [&](const Frame& request) { return service.answer(request); },
          [] { return true; });
    ::_exit(0);
  };
  if (arguments.duty == Sandbox::Duty::texts) serve_without_device(TextService());
  if (arguments.duty == Sandbox::Duty::detector_on_processor)
    serve_without_device(DetectorService());
  exec::Bounds bounds;
  bounds.bytes_max = arguments.memory_bytes;
  bounds.binding_bytes_max = std::min(bounds.binding_bytes_max, arguments.memory_bytes);
  // From this line on the process ends without cleanup, because drivers' threads may still run a
  // shader that never ends.
  Child child(arguments.socket, bounds);
  if (auto opened = child.open_device(arguments.adapter); !opened) {
    if (const std::string why = refused_driver(drivers); !why.empty())
      opened.error().message += " " + why;
    send_frame(arguments.socket, FrameKind::failed, pack_error(opened.error()));
    ::_exit(1);
  }
  if (say_ready()) arguments.duty == Sandbox::Duty::detector ? child.detect() : child.serve();
  std::fflush(nullptr);
  ::_exit(0);
}

}  // namespace weft::worker
