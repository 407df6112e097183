// Requests to ONNX models and their answers, in two formats: the Open Inference Protocol (version
// 2) in JSON with its binary tensor extension, and TensorFlow Serving's "predict". docs/onnx.md
// describes the routes.
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
  std::size_t output = 0;  // Index among the interface's outputs.
  bool binary = false;
};
// The format of the answer: Open Inference Protocol, or TensorFlow Serving by rows or by columns.
enum class InferForm : std::uint8_t { protocol, rows, columns };

struct InferRequest {
  InferForm form = InferForm::protocol;
  std::string id{};
  std::vector<ByteVector> inputs{};  // Inputs in the interface's order.
  std::vector<WantedTensor> outputs{};
  inference::BoundShapes shapes{};
};
// The outputs of a job that the client requested, in the client's element types (from_job()).
struct InferResult {
  std::vector<ByteVector> outputs;  // Outputs in the order of InferRequest::outputs.
  std::string job;
  MicroCredits price = 0;
};
struct InferReply {
  std::string body;
  std::map<std::string, std::string> headers;
};

// Reads POST /v2/models/NAME/infer. `json_bytes` is the length of the JSON before binary tensors;
// no value means that the whole body is JSON.
[[nodiscard]] Result<InferRequest> read_infer_request(std::string_view body,
                                                      std::optional<std::size_t> json_bytes,
                                                      const inference::OnnxInterface& interface);
// Reads the body of POST /v1/models/NAME:predict.
[[nodiscard]] Result<InferRequest> read_predict_request(std::string_view body,
                                                        const inference::OnnxInterface& interface);
[[nodiscard]] Result<InferReply> write_infer_reply(const std::string& model,
                                                   const InferRequest& request,
                                                   const inference::OnnxInterface& interface,
                                                   const InferResult& result);

// The documents of GET /v2/models/NAME (protocol) and GET /v1/models/NAME/metadata (serving).
[[nodiscard]] std::string protocol_metadata(const std::string& model,
                                            const inference::OnnxInterface& interface);
[[nodiscard]] std::string serving_metadata(const std::string& model,
                                           const inference::OnnxInterface& interface);

}  // namespace weft::coordinator
