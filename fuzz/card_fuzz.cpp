// Fuzzes a model's card and the description of an ONNX model's inputs and outputs: each is refused
// with a sentence, or read and written in one form. The shapes of a request fit the description
// that was read.
#include "common/base/bytes.h"
#include "common/base/check.h"
#include "decisions/inference/model_card.h"
#include "decisions/inference/onnx_interface.h"

using namespace weft;

namespace {

void shapes(const inference::OnnxInterface& interface) {
  std::vector<inference::TensorShape> given;
  for (const inference::TensorSpec& input : interface.inputs) {
    inference::TensorShape& shape = given.emplace_back();
    for (const inference::TensorSize& size : input.shape)
      shape.push_back(size.number == 0 ? 3 : size.number);
  }
  const auto bound = inference::bind(interface, given);
  if (!bound) return check(!bound.error().message.empty(), "a refusal says why");
  check(bound->inputs == given && bound->outputs.size() == interface.outputs.size(),
        "each tensor has a shape");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = as_text(ByteSpan(data, size));
  if (const auto card = inference::read_model_card(text)) {
    const std::string written = inference::to_json(*card);
    const auto again = inference::read_model_card(written);
    check(again && inference::to_json(*again) == written, "a card has one written form");
  }
  if (const auto interface = inference::read_onnx_interface(text)) {
    const auto again = inference::read_onnx_interface(inference::to_json(*interface));
    check(again && *again == *interface, "an interface comes back");
    shapes(*interface);
  }
  return 0;
}
