// `weft model`: manages the models that a coordinator's workers serve.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "platform/net/client.h"

namespace weft::cli {

struct ServedModelOptions {
  std::string coordinator;
  net::TlsOptions tls;
  std::string wallet;
  std::string file;          // File to add.
  std::string name;          // Name of the model; default of add: the file's name without ".gguf".
  std::uint32_t shards = 1;  // add: least number of workers in a chain.
  std::optional<double> price;     // add: price of 1,000 tokens in credits.
  std::string wire;                // add: type of hidden states; empty: the coordinator's.
  std::vector<std::string> sizes;  // add: "NAME=SIZE" of symbolic dimensions of an ONNX model.
  bool wait = false;               // add: waits until the model can be asked.
  bool json = false;
};

[[nodiscard]] int model_add_command(const ServedModelOptions& options);
[[nodiscard]] int model_list_command(const ServedModelOptions& options);
[[nodiscard]] int model_remove_command(const ServedModelOptions& options);

}  // namespace weft::cli
