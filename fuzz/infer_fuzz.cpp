// Fuzzes requests to ONNX models: each is refused with a sentence, or its tensors have as many
// bytes as their shapes need.
#include "apps/coordinator/http/infer_request.h"
#include "common/base/bytes.h"
#include "common/base/check.h"

using namespace weft;
using inference::OnnxInterface;

namespace {

const OnnxInterface& interface_of(std::size_t which) {
  static const std::vector<OnnxInterface> all = {
      inference::read_onnx_interface(
          R"({"inputs":[{"name":"x","type":"f32","shape":[1,2]},{"name":"n","type":"u8","shape":[1]}],)"
          R"("outputs":[{"name":"y","type":"f32","shape":[1,2]},{"name":"z","type":"i64","shape":[1]}]})")
          .value(),
      inference::read_onnx_interface(R"({"inputs":[{"name":"x","type":"f16","shape":["n",2]}],)"
                                     R"("outputs":[{"name":"y","type":"bool","shape":["n"]}]})")
          .value()};
  return all.at(which);
}

void look_at(const Result<coordinator::InferRequest>& read, const OnnxInterface& interface) {
  if (!read) return check(!read.error().message.empty(), "a refusal says why");
  check(read->inputs.size() == interface.inputs.size(), "each input is given once");
  check(read->shapes.inputs.size() == read->inputs.size(), "each input has a shape");
  for (std::size_t i = 0; i < read->inputs.size(); ++i) {
    const auto& type = coordinator::tensor_type(interface.inputs[i].type);
    check(read->inputs[i].size() == coordinator::element_count(read->shapes.inputs[i]) * type.bytes,
          "a tensor has the bytes that its shape says");
  }
  for (const coordinator::WantedTensor& wanted : read->outputs)
    check(wanted.output < interface.outputs.size(), "an output of the model is asked for");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body = as_text(ByteSpan(data, size));
  // Tensors in binary form follow the JSON.
  const std::size_t json_end = body.rfind('}');
  for (const std::size_t which : {0U, 1U}) {
    const OnnxInterface& interface = interface_of(which);
    look_at(coordinator::read_infer_request(body, std::nullopt, interface), interface);
    if (json_end != std::string_view::npos)
      look_at(coordinator::read_infer_request(body, json_end + 1, interface), interface);
    look_at(coordinator::read_infer_request(body, size + 1, interface), interface);
    look_at(coordinator::read_predict_request(body, interface), interface);
  }
  return 0;
}
