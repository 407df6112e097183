#include "bindings/llm_web/js_source.h"

#include <cstdlib>
#include <memory>

#include "bindings/llm_web/imports.h"

namespace weft::llm_web {

JsSource::JsSource() : bytes_(static_cast<std::uint64_t>(weft_llm_source_bytes())) {}

Result<> JsSource::read(std::uint64_t offset, std::span<std::uint8_t> out) const {
  if (offset > bytes_ || out.size() > bytes_ - offset)
    return fail(ErrorCode::invalid_argument,
                "The range of {} bytes at {} lies past the end of the file ({} bytes).", out.size(),
                offset, bytes_);
  if (out.empty()) return {};
  const std::unique_ptr<char, decltype(&std::free)> failure(
      weft_llm_source_read(static_cast<double>(offset), out.data(),
                           static_cast<double>(out.size())),
      &std::free);
  if (failure)
    return fail(ErrorCode::data_loss, "The model's file cannot be read: {}", failure.get());
  return {};
}

}  // namespace weft::llm_web
