#include "apps/cli/onnx_files.h"

#include <charconv>

#include "apps/cli/files.h"
#include "engine/onnx/model_file.h"
#include "engine/onnx/numpy_file.h"
#include "engine/onnx/operators/prepare.h"
#include "engine/onnx/read_model.h"

namespace weft::cli {

Result<std::vector<std::pair<std::string, std::int64_t>>> symbol_sizes(
    const std::vector<std::string>& given) {
  std::vector<std::pair<std::string, std::int64_t>> out;
  for (const std::string& text : given) {
    const std::size_t equals = text.rfind('=');
    std::int64_t size = 0;
    const char* end = text.data() + text.size();
    if (equals == std::string::npos || equals == 0 ||
        std::from_chars(text.data() + equals + 1, end, size).ptr != end || size < 1)
      return fail(ErrorCode::invalid_argument, "--size '{}' is not NAME=SIZE.", text);
    out.emplace_back(text.substr(0, equals), size);
  }
  return out;
}

Result<onnx::Tensor> read_onnx_input(const std::filesystem::path& folder, std::size_t index,
                                     const std::string& name) {
  const auto serialised = folder / weft::format("input_{}.pb", index);
  std::error_code ignored;
  if (std::filesystem::exists(serialised, ignored)) {
    WEFT_ASSIGN(const ByteVector bytes, read_file(serialised));
    auto tensor = onnx::read_tensor(bytes);
    if (!tensor) return pass(std::move(tensor), "while reading {}", serialised.string());
    return std::move(tensor->tensor);
  }
  // A tensor's name must not be used as a path.
  if (name.contains('/') || name.contains('\0'))
    return fail(ErrorCode::not_found, "The file {} does not exist.", serialised.string());
  const auto numpy = folder / (name + ".npy");
  if (!std::filesystem::exists(numpy, ignored))
    return fail(ErrorCode::not_found, "The input '{}' is in neither {} nor {}.", name,
                serialised.string(), numpy.string());
  WEFT_ASSIGN(const ByteVector bytes, read_file(numpy));
  auto tensor = onnx::read_npy(bytes);
  if (!tensor) return pass(std::move(tensor), "while reading {}", numpy.string());
  return tensor;
}

Result<> check_new_folder(const std::string& folder) {
  std::error_code ignored;
  if (std::filesystem::exists(folder, ignored) && !std::filesystem::is_empty(folder, ignored))
    return fail(ErrorCode::invalid_argument, "The folder {} is not empty; name a new one.", folder);
  return {};
}

Result<onnx::Graph> prepared_graph(const std::string& file, const std::vector<std::string>& sizes) {
  WEFT_ASSIGN(onnx::Model model, onnx::open_model_file(file));
  onnx::PrepareOptions prepare;
  WEFT_ASSIGN(prepare.sizes, symbol_sizes(sizes));
  return onnx::prepare(std::move(model), prepare);
}

}  // namespace weft::cli
