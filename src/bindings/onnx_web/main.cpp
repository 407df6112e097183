// The module's entry points, which api_web.js calls. Each model has a number.
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <emscripten/emscripten.h>

#include "bindings/onnx_web/answers.h"
#include "bindings/onnx_web/imports.h"
#include "bindings/onnx_web/model.h"
#include "engine/gpu/web/instance.h"
#include "engine/onnx/read_model.h"

namespace {

using weft::Result;
using weft::onnx_web::Model;

weft::onnx_web::Gpu& gpu() {
  static weft::onnx_web::Gpu made(weft::gpu::web::create_instance());
  return made;
}

std::map<std::uint32_t, std::shared_ptr<Model>>& models() {
  static std::map<std::uint32_t, std::shared_ptr<Model>> open;
  return open;
}

Result<std::shared_ptr<Model>> model(std::uint32_t number) {
  const auto found = models().find(number);
  if (found == models().end())
    return weft::fail(weft::ErrorCode::not_found, "The model was closed.");
  return found->second;
}

void answer(std::uint32_t call, const Result<std::string>& result) {
  const std::string_view code = result ? "" : weft::to_string(result.error().code);
  const std::string& text = result ? *result : result.error().message;
  weft_onnx_answer(call, code.data(), static_cast<std::uint32_t>(code.size()), text.data(),
                   static_cast<std::uint32_t>(text.size()));
}

weft::Async<Result<std::string>> open(std::uint32_t number, std::string options,
                                      weft::ByteSpan bytes) {
  WEFT_CO_ASSIGN(auto request, weft::onnx_web::parse_open(options));
  WEFT_CO_ASSIGN(auto opened, co_await Model::open(bytes, std::move(request), gpu()));
  std::string info = opened->info();
  models()[number] = std::move(opened);
  co_return info;
}

// The shared pointer keeps a model alive until its run ends, even if the model is closed before.
weft::Async<Result<std::string>> run(std::uint32_t call, std::uint32_t number, std::string json,
                                     weft::ByteSpan data) {
  WEFT_CO_ASSIGN(const std::shared_ptr<Model> running, model(number));
  WEFT_CO_ASSIGN(std::string text, co_await running->run(std::move(json), data));
  for (const weft::onnx::Tensor& output : running->outputs())
    weft_onnx_part(call, output.bytes().data(), static_cast<double>(output.byte_count()));
  co_return text;
}

weft::Async<Result<std::string>> detect(std::uint32_t number, std::string json, weft::ByteSpan data,
                                        std::string options) {
  WEFT_CO_ASSIGN(const std::shared_ptr<Model> running, model(number));
  co_return co_await running->detect(std::move(json), data, std::move(options));
}

weft::ByteSpan bytes_at(const std::uint8_t* bytes, double size) {
  return {bytes, static_cast<std::size_t>(size)};
}

}  // namespace

extern "C" {
EMSCRIPTEN_KEEPALIVE void weft_onnx_open(std::uint32_t call, std::uint32_t number,
                                         const char* options, std::uint32_t size,
                                         const std::uint8_t* bytes, double bytes_size) {
  weft::start<Result<std::string>>(
      open(number, std::string(options, size), bytes_at(bytes, bytes_size)),
      [call](const Result<std::string>& result) { answer(call, result); });
}
EMSCRIPTEN_KEEPALIVE void weft_onnx_run(std::uint32_t call, std::uint32_t number, const char* json,
                                        std::uint32_t size, const std::uint8_t* data,
                                        double data_size) {
  weft::start<Result<std::string>>(
      run(call, number, std::string(json, size), bytes_at(data, data_size)),
      [call](const Result<std::string>& result) { answer(call, result); });
}
EMSCRIPTEN_KEEPALIVE void weft_onnx_detect(std::uint32_t call, std::uint32_t number,
                                           const char* json, std::uint32_t size,
                                           const std::uint8_t* data, double data_size,
                                           const char* options, std::uint32_t options_size) {
  weft::start<Result<std::string>>(
      detect(number, std::string(json, size), bytes_at(data, data_size),
             std::string(options, options_size)),
      [call](const Result<std::string>& result) { answer(call, result); });
}
EMSCRIPTEN_KEEPALIVE void weft_onnx_input_buffer(std::uint32_t call, std::uint32_t number,
                                                 const char* name, std::uint32_t size) {
  const auto buffer = model(number).and_then(
      [&](const std::shared_ptr<Model>& found) { return found->input_buffer({name, size}); });
  if (buffer) weft_onnx_buffer_part(call, static_cast<std::uint32_t>((*buffer)->handle()));
  answer(call, buffer.transform([](const auto&) { return std::string(); }));
}
EMSCRIPTEN_KEEPALIVE void weft_onnx_boxes(std::uint32_t call, std::uint32_t number,
                                          const char* json, std::uint32_t size) {
  answer(call, model(number).and_then([&](const std::shared_ptr<Model>& found) {
    return found->boxes({json, size});
  }));
}
EMSCRIPTEN_KEEPALIVE void weft_onnx_close(std::uint32_t number) { models().erase(number); }
// Reads a serialised TensorProto. The answer is {"name", "type", "shape"}, and the tensor's bytes
// are its only part.
EMSCRIPTEN_KEEPALIVE void weft_onnx_read_tensor(std::uint32_t call, const std::uint8_t* bytes,
                                                double size) {
  const auto read = weft::onnx::read_tensor(bytes_at(bytes, size));
  if (read)
    weft_onnx_part(call, read->tensor.bytes().data(),
                   static_cast<double>(read->tensor.byte_count()));
  answer(call, read.transform([](const weft::onnx::NamedTensor& named) {
    return weft::onnx_web::tensor_json(named.name, named.tensor);
  }));
}
}

int main() { return 0; }
