#include "apps/cli/network_items.h"

#include <algorithm>

#include "apps/cli/files.h"
#include "apps/cli/follow_job.h"
#include "apps/cli/progress.h"
#include "apps/cli/wallet_choice.h"
#include "common/base/format.h"
#include "common/crypto/ordered_id.h"
#include "common/crypto/sha256.h"
#include "engine/onnx/jobs/item_tensors.h"
#include "engine/onnx/operators/infer.h"

namespace weft::cli {
namespace {

using onnx::Tensor;

// GPUs round sums of floats differently. A share of 0.002 of a value is far below a change of a
// class or a box, and far above the differences of devices.
constexpr manifest::Compare tolerance{.exact = false, .absolute = 0.002, .relative = 0.002};

Result<manifest::Binding> stack_of(const std::string& name, const Tensor& of_one,
                                   std::size_t items) {
  manifest::Binding stack{.name = name, .shape = {items}};
  stack.type = onnx::job_type(of_one.type());
  for (const std::int64_t size : of_one.shape()) {
    if (size == 0)
      return fail(ErrorCode::unsupported, "'{}' has no elements: its shape is {}.", name,
                  onnx::to_string(of_one.shape()));
    stack.shape.push_back(static_cast<std::uint64_t>(size));
  }
  return stack;
}

// The types and shapes of the model's outputs for one item.
Result<std::vector<Tensor>> output_shapes(const onnx::Graph& graph, const Items& items) {
  std::vector<Tensor> inputs;
  for (const Tensor& input : items.front()) inputs.push_back(input.without_bytes());
  WEFT_ASSIGN(const onnx::Inference inference, onnx::infer(graph, std::move(inputs)));
  std::vector<Tensor> shapes;
  for (const onnx::ValueId id : graph.outputs) {
    const auto& value = inference.values[id];
    if (!value)
      return fail(ErrorCode::unsupported,
                  "The size of the output '{}' depends on the computed values; an output of a job "
                  "must have a fixed size.",
                  graph.name(id));
    shapes.push_back(value->without_bytes());
  }
  return shapes;
}

}  // namespace

Result<std::vector<ByteVector>> stacks(const Items& items) {
  std::vector<ByteVector> out(items.front().size());
  for (const std::vector<Tensor>& item : items) {
    for (std::size_t i = 0; i < item.size(); ++i)
      WEFT_OK(onnx::append_to_stack(out[i], item[i], "An input"));
  }
  return out;
}

Result<manifest::Manifest> items_manifest(const onnx::Graph& graph, ByteSpan model,
                                          const Items& items, const NetworkItemsOptions& options) {
  manifest::Manifest job;
  job.kind = manifest::Kind::onnx;
  job.name = options.name;
  job.onnx.items = static_cast<std::uint32_t>(items.size());
  job.budget = options.budget;
  job.verify.compare = tolerance;
  const std::size_t tasks =
      options.tasks > 0 ? options.tasks : (items.size() + items_per_task - 1) / items_per_task;
  job.split.tasks = static_cast<std::uint32_t>(
      std::min<std::size_t>({tasks, items.size(), manifest::Limits{}.tasks_max}));
  job.bindings.push_back({.role = manifest::Role::input,
                          .type = manifest::ElementType::i8,
                          .shape = {model.size()},
                          .data = manifest::Blob{crypto::sha256(model)}});
  WEFT_ASSIGN(const std::vector<ByteVector> given, stacks(items));
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    WEFT_ASSIGN(manifest::Binding stack,
                stack_of(graph.inputs[i].name, items.front()[i], items.size()));
    stack.role = manifest::Role::input;
    stack.data = manifest::Blob{crypto::sha256(given[i])};
    job.bindings.push_back(std::move(stack));
  }
  WEFT_ASSIGN(const std::vector<Tensor> shapes, output_shapes(graph, items));
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    WEFT_ASSIGN(manifest::Binding stack,
                stack_of(graph.name(graph.outputs[i]), shapes[i], items.size()));
    stack.split_dim = 0;
    job.bindings.push_back(std::move(stack));
  }
  for (std::size_t i = 0; i < job.bindings.size(); ++i)
    job.bindings[i].binding = static_cast<std::uint32_t>(i);
  return job;
}

std::string to_line(const NetworkJob& job) {
  return weft::format("job {}: {} {:.6f} credits\n", job.id, job.decided, job.price);
}

Result<NetworkResults> run_on_network(const std::filesystem::path& file, const onnx::Graph& graph,
                                      const Items& items, const NetworkItemsOptions& options) {
  WEFT_ASSIGN(const auto client,
              ApiClient::create({.url = options.coordinator, .tls = options.tls}));
  WEFT_ASSIGN(const crypto::KeyPair wallet, wallet_or_new(options.wallet));
  WEFT_ASSIGN(const ByteVector model, read_file(file));
  WEFT_ASSIGN(const manifest::Manifest job, items_manifest(graph, model, items, options));
  WEFT_ASSIGN(const std::vector<ByteVector> given, stacks(items));
  WEFT_ASSIGN(const Hash stored, client->requests().put_blob(model, wallet));
  check(job.bindings.front().data == manifest::Data(manifest::Blob{stored}),
        "a blob is stored by its hash");
  for (const ByteVector& stack : given) {
    if (auto put = client->requests().put_blob(stack, wallet); !put)
      return std::unexpected(put.error());
  }
  WEFT_ASSIGN(const protocol::api::Submitted submitted,
              client->submit(manifest::to_json(job), wallet, crypto::ordered_id(), PriceWanted{}));
  WEFT_OK(client->read_as(wallet));
  WEFT_ASSIGN(const protocol::api::Job done,
              follow_job(*client, submitted.id, options.coordinator));
  if (done.state != "done" && done.state != "corrected")
    return fail(ErrorCode::unavailable, "The job {} is {}: {}", done.id, done.state, done.reason);
  NetworkResults results{
      .outputs = Items(items.size()),
      .job = {
          .id = done.id, .decided = done.decided, .price = static_cast<double>(done.price) * 1e-6}};
  WEFT_ASSIGN(const std::vector<Tensor> shapes, output_shapes(graph, items));
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    WEFT_ASSIGN(const ByteVector bytes, fetch_output(*client, done, i));
    const std::size_t each = bytes.size() / items.size();
    for (std::size_t item = 0; item < items.size(); ++item) {
      WEFT_ASSIGN(Tensor tensor, onnx::from_stack(ByteSpan(bytes).subspan(item * each, each),
                                                  shapes[i].type(), shapes[i].shape()));
      results.outputs[item].push_back(std::move(tensor));
    }
  }
  return results;
}

}  // namespace weft::cli
