#include "apps/cli/onnx_device.h"

#include <cctype>

#include "apps/cli/files.h"
#include "apps/cli/installation.h"
#include "engine/gpu/measure.h"
#include "engine/gpu/native/instance.h"
#include "engine/onnx/operators/interpreter.h"

namespace weft::cli {

namespace {

constexpr std::uintmax_t choices_bytes_max = 4 << 20;

// Returns the file of a device and its driver; the file's name contains both names.
std::filesystem::path choices_file(const std::filesystem::path& cache,
                                   const gpu::AdapterInfo& adapter) {
  std::string name = adapter.device + " " + adapter.description;
  for (char& letter : name)
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '-';
  return cache / "onnx" / (name + ".txt");
}

}  // namespace

Result<std::unique_ptr<OnnxDevice>> OnnxDevice::open(onnx::Graph graph, const Options& options) {
  if (options.device != "gpu" && options.device != "cpu")
    return fail(ErrorCode::invalid_argument, "The device '{}' is not gpu or cpu.", options.device);
  if (options.storage != "f32" && options.storage != "f16")
    return fail(ErrorCode::invalid_argument, "--storage '{}' is not f32 or f16.", options.storage);
  if (options.device == "cpu" && options.storage != "f32")
    return fail(ErrorCode::invalid_argument, "--storage {} is for a GPU; the processor stores f32.",
                options.storage);
  std::unique_ptr<OnnxDevice> out(new OnnxDevice);
  out->graph_ = std::move(graph);
  if (options.device == "cpu") return out;
  out->instance_ = gpu::native::create_instance();
  const std::filesystem::path cache = cache_folder();
  WEFT_ASSIGN(out->device_,
              gpu::run(*out->instance_,
                       out->instance_->create_device(
                           {.label = "onnx",
                            .trusted_shaders = true,
                            .cache_directory =
                                cache.empty() ? std::string() : (cache / "pipelines").string()})));
  out->name_ = out->device_->adapter().device;
  onnx::GpuModel::Options model{.fuse = options.fuse, .halves = options.storage == "f16"};
  if (!cache.empty()) {
    const std::filesystem::path kept = choices_file(cache, out->device_->adapter());
    std::error_code failed;
    if (std::filesystem::file_size(kept, failed) <= choices_bytes_max && !failed) {
      WEFT_ASSIGN(const ByteVector bytes, read_file(kept));
      model.choices = onnx::ConvolutionChoices::from_text(weft::as_text(bytes));
    }
    if (options.tune) out->choices_file_ = kept;
  }
  model.measure_convolutions = options.tune;
  out->model_ = std::make_unique<onnx::GpuModel>(*out->device_, out->graph_, std::move(model));
  return out;
}

Result<std::vector<onnx::Tensor>> OnnxDevice::run(std::vector<onnx::Tensor> inputs) {
  if (model_ == nullptr) return onnx::interpret(graph_, std::move(inputs));
  WEFT_ASSIGN(auto outputs, gpu::run(*instance_, model_->run(std::move(inputs))));
  WEFT_OK(keep_choices());
  return outputs;
}

Result<> OnnxDevice::look(onnx::DetectorInput input, onnx::Convention convention) {
  check(model_ != nullptr, "pictures are looked at on a GPU");
  if (detector_ != nullptr) return {};
  WEFT_ASSIGN(detector_, gpu::run(*instance_, onnx::PictureDetector::create(*device_, *model_,
                                                                            input, convention)));
  return {};
}

Result<onnx::GpuDetector::Found> OnnxDevice::see(const onnx::Picture& picture,
                                                 const onnx::DetectionBounds& bounds) {
  check(detector_ != nullptr, "look() goes before see()");
  return gpu::run(*instance_, detector_->see(picture, bounds));
}

Result<onnx::GpuModel::Measurement> OnnxDevice::measure(std::vector<onnx::Tensor> inputs) {
  check(model_ != nullptr, "kernels are measured on a GPU");
  WEFT_ASSIGN(auto measured, gpu::run(*instance_, model_->measure(std::move(inputs))));
  WEFT_OK(keep_choices());
  return measured;
}

Result<> OnnxDevice::keep_choices() const {
  if (choices_file_.empty()) return {};
  return write_file(choices_file_, weft::as_bytes(model_->choices().to_text()));
}

Result<OnnxDevice::Rates> OnnxDevice::rates() {
  check(device_ != nullptr, "a GPU's rates are measured on a GPU");
  constexpr std::uint64_t copied_bytes = 64 << 20;
  gpu::Meter meter(*device_);
  const auto rate = [&](gpu::Workload work, bool bytes) -> Result<double> {
    WEFT_ASSIGN(
        const double seconds,
        gpu::run(*instance_, meter.seconds_each([&work](gpu::Pass& pass) { work.run(pass); }, {})));
    return (bytes ? work.bytes : work.operations) / seconds;
  };
  Rates out;
  WEFT_ASSIGN(gpu::Workload copy, gpu::run(*instance_, gpu::create_copy(*device_, copied_bytes)));
  WEFT_ASSIGN(out.bytes_per_s, rate(std::move(copy), true));
  WEFT_ASSIGN(gpu::Workload peak,
              gpu::run(*instance_, gpu::create_peak(*device_, gpu::Arithmetic::f32)));
  WEFT_ASSIGN(out.operations_per_s, rate(std::move(peak), false));
  return out;
}

}  // namespace weft::cli
