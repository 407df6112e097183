// An ONNX model over a data set, computed by a network: an onnx job from the model and the inputs
// of each item, its results as tensors again.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/manifest/manifest.h"
#include "engine/onnx/graph.h"
#include "platform/net/client.h"

namespace weft::cli {

struct NetworkItemsOptions {
  std::string coordinator;
  net::TlsOptions tls;
  std::filesystem::path wallet;  // Empty: the default one, made when missing.
  MicroCredits budget = 1'000'000;
  std::uint32_t tasks = 0;  // 0: one for each items_per_task items.
  std::string name = "onnx";
};
inline constexpr std::size_t items_per_task = 4;

// The model's inputs for each item, in the graph's order.
using Items = std::vector<std::vector<onnx::Tensor>>;

// The job's manifest; its data are blobs with the hashes of the model and of stacks(). Types of the
// job are the model's; other integers are wider or narrower (item_tensors.h). unsupported for
// outputs whose size depends on what is computed.
[[nodiscard]] Result<manifest::Manifest> items_manifest(const onnx::Graph& graph, ByteSpan model,
                                                        const Items& items,
                                                        const NetworkItemsOptions& options);
// For each input of the graph the items' tensors, one after the other.
[[nodiscard]] Result<std::vector<ByteVector>> stacks(const Items& items);

// The job that computed them, as --json prints it; the names are its keys.
struct NetworkJob {
  std::string id;
  std::string decided;  // In a sentence, how the results were decided.
  double price = 0;     // That was paid, in credits.
};
// The same as a line for people.
[[nodiscard]] std::string to_line(const NetworkJob& job);
struct NetworkResults {
  Items outputs;  // The model's outputs for each item, in the graph's order.
  NetworkJob job;
};
// Uploads, submits and follows the job. `file` is the model's, without external data.
[[nodiscard]] Result<NetworkResults> run_on_network(const std::filesystem::path& file,
                                                    const onnx::Graph& graph, const Items& items,
                                                    const NetworkItemsOptions& options);

}  // namespace weft::cli
