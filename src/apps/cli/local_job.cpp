#include "apps/cli/local_job.h"

#include <variant>

#include "apps/cli/files.h"
#include "common/base/format.h"

namespace weft::cli {
namespace {

// Reads a data file. `bytes` is the size that the shape needs. A file of another size is reported
// here, because only this function knows its name.
Result<ByteVector> read_data(const manifest::Data& data, const std::filesystem::path& folder,
                             std::uint64_t bytes, std::string_view what) {
  if (const auto* given = std::get_if<manifest::Inline>(&data)) return given->bytes;
  if (std::holds_alternative<manifest::Blob>(data)) {
    return fail(
        ErrorCode::invalid_argument,
        "{} is a blob, which only a coordinator has; give it as \"path\", \"base64\" or \"value\".",
        what);
  }
  const auto* path = std::get_if<manifest::Path>(&data);
  if (path == nullptr) return ByteVector();
  WEFT_ASSIGN(ByteVector read, read_file(folder / path->path));
  if (read.size() != bytes) {
    return fail(ErrorCode::invalid_argument,
                "{} is the file '{}' of {} bytes; its shape needs {} bytes.", what, path->path,
                read.size(), bytes);
  }
  return read;
}

Result<std::string> read_shader(const manifest::Manifest& manifest,
                                const std::filesystem::path& folder) {
  if (const auto* text = std::get_if<std::string>(&manifest.shader)) return *text;
  const auto* path = std::get_if<manifest::Path>(&manifest.shader);
  if (path == nullptr)
    return fail(
        ErrorCode::invalid_argument,
        "The shader is a blob, which only a coordinator has; give it as \"inline\" or \"path\".");
  WEFT_ASSIGN(const ByteVector text, read_file(folder / path->path));
  if (text.size() > manifest::Limits{}.shader_bytes_max) {
    return fail(ErrorCode::invalid_argument,
                "The shader '{}' has {} bytes; at most {} are allowed.", path->path, text.size(),
                manifest::Limits{}.shader_bytes_max);
  }
  return std::string(as_text(text));
}

}  // namespace

Result<std::shared_ptr<const exec::Job>> load_local_job(const std::filesystem::path& file) {
  WEFT_ASSIGN(const ByteVector text, read_file(file));
  Result<manifest::Manifest> parsed = manifest::parse(as_text(text));
  if (!parsed) return pass(std::move(parsed), "while reading {}", file.string());
  const std::filesystem::path folder = file.parent_path();
  auto job = std::make_shared<exec::Job>();
  job->manifest = std::move(*parsed);
  if (job->manifest.kind == manifest::Kind::kernel) {
    const manifest::Kernel& kernel = job->manifest.kernel;
    WEFT_ASSIGN(ByteVector a, read_data(kernel.a, folder, std::uint64_t{kernel.m} * kernel.k, "a"));
    WEFT_ASSIGN(ByteVector b, read_data(kernel.b, folder, std::uint64_t{kernel.k} * kernel.n, "b"));
    job->data.push_back(std::move(a));
    job->data.push_back(std::move(b));
    return job;
  }
  WEFT_ASSIGN(job->shader, read_shader(job->manifest, folder));
  for (std::size_t i = 0; i < job->manifest.bindings.size(); ++i) {
    const manifest::Binding& binding = job->manifest.bindings[i];
    WEFT_ASSIGN(ByteVector data,
                read_data(binding.data, folder, binding.bytes(), weft::format("bindings[{}]", i)));
    job->data.push_back(std::move(data));
  }
  return job;
}

}  // namespace weft::cli
