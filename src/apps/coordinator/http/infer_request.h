// Requests to ONNX models and their answers: the Open Inference Protocol (version 2) in JSON with
// its extension for binary tensors, and TensorFlow Serving's "predict". docs/onnx.md names the
// routes.
//
// Pure. Errors: invalid_argument with one sentence.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/coordinator/http/tensor_values.h"

namespace weft::coordinator {

struct WantedTensor {
  std::size_t output = 0;  // Its place in the interface.
  bool binary = false;
};
// How the answer is written.
enum class InferForm : std::uint8_t { protocol, rows, columns };

struct InferRequest {
  InferForm form = InferForm::protocol;
  std::string id{};
  std::vector<ByteVector> inputs{};  // In the interface's order.
  std::vector<WantedTensor> outputs{};
  inference::BoundShapes shapes{};
};
// What a job gave for the wanted outputs, as the client has them (from_job()).
struct InferResult {
  std::vector<ByteVector> outputs;  // In the order of InferRequest::outputs.
  std::string job;
  MicroCredits price = 0;
};
struct InferReply {
  std::string body;
  std::map<std::string, std::string> headers;
};

// POST /v2/models/NAME/infer. `json_bytes`: of the JSON before binary tensors; nothing: all of it.
[[nodiscard]] Result<InferRequest> read_infer_request(std::string_view body,
                                                      std::optional<std::size_t> json_bytes,
                                                      const inference::OnnxInterface& interface);
// POST /v1/models/NAME:predict.
[[nodiscard]] Result<InferRequest> read_predict_request(std::string_view body,
                                                        const inference::OnnxInterface& interface);
[[nodiscard]] Result<InferReply> write_infer_reply(const std::string& model,
                                                   const InferRequest& request,
                                                   const inference::OnnxInterface& interface,
                                                   const InferResult& result);

// GET /v2/models/NAME, GET /v1/models/NAME/metadata.
[[nodiscard]] std::string protocol_metadata(const std::string& model,
                                            const inference::OnnxInterface& interface);
[[nodiscard]] std::string serving_metadata(const std::string& model,
                                           const inference::OnnxInterface& interface);

}  // namespace weft::coordinator
