// Computes an ONNX model over a data set in a network: makes an onnx job from the model and the
// inputs of each item, and reads its results as tensors.
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
  std::filesystem::path wallet;  // Empty: the default wallet, created if missing.
  MicroCredits budget = 1'000'000;
  std::uint32_t tasks = 0;  // Number of tasks; 0: one for every items_per_task items.
  std::string name = "onnx";
};
inline constexpr std::size_t items_per_task = 4;

// The model's inputs for each item, in the graph's order.
using Items = std::vector<std::vector<onnx::Tensor>>;

// Makes the job's manifest. Its data are blobs with the hashes of the model and of stacks(). The
// job's types are those of the model; other integer types are widened or narrowed (item_tensors.h).
// Fails with unsupported if the size of an output depends on the data.
[[nodiscard]] Result<manifest::Manifest> items_manifest(const onnx::Graph& graph, ByteSpan model,
                                                        const Items& items,
                                                        const NetworkItemsOptions& options);
// Returns for each input of the graph the tensors of all items, concatenated.
[[nodiscard]] Result<std::vector<ByteVector>> stacks(const Items& items);

// The job that computed the items, as --json prints it; the members' names are its keys.
struct NetworkJob {
  std::string id;
  std::string decided;  // A sentence about how the results were decided.
  double price = 0;     // The price that was paid, in credits.
};
// Returns a NetworkJob as a line of text.
[[nodiscard]] std::string to_line(const NetworkJob& job);
struct NetworkResults {
  Items outputs;  // The model's outputs for each item, in the graph's order.
  NetworkJob job;
};
// Uploads, submits and follows the job. `file` is the model's file, which has no external data.
[[nodiscard]] Result<NetworkResults> run_on_network(const std::filesystem::path& file,
                                                    const onnx::Graph& graph, const Items& items,
                                                    const NetworkItemsOptions& options);

}  // namespace weft::cli
