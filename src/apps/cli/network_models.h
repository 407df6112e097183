// A client for a coordinator's language models over the HTTP interface of OpenAI: lists models, and
// gets streamed answers and vectors. For the commands that take --network.
//
// Blocking; any thread. Lifetime: the objects to which `wanted` refers outlive it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "platform/net/client.h"

namespace weft::cli {

struct NetworkModelsOptions {
  bool wanted = false;      // --network was given.
  std::string coordinator;  // URL of the coordinator.
  net::TlsOptions tls;
  std::string key_file;  // File with an API key; empty: WEFT_API_KEY, if set.
};

// Reads an API key from a file that contains nothing else.
[[nodiscard]] Result<std::string> read_key_file(const std::filesystem::path& file);

struct NetworkModel {
  std::string name;
  std::string state;   // "ready", "loading", "no worker".
  std::string output;  // "text", "embedding".
  std::uint64_t context = 0;
  MicroCredits price = 0;  // Price of 1,000 tokens.
};

// An answer of a network's model, with its statistics.
struct NetworkAnswer {
  std::string text;    // The answer without the model's thoughts.
  std::string finish;  // "stop", "length", "tool_calls".
  std::uint64_t prompt_tokens = 0, answer_tokens = 0;
  std::vector<std::string> workers;
  double first_s = 0, whole_s = 0;  // Time until the first part, and until the end.
};

class NetworkModels {
 public:
  [[nodiscard]] static Result<NetworkModels> create(const NetworkModelsOptions& options);

  [[nodiscard]] bool has_key() const { return !key_.empty(); }
  [[nodiscard]] Result<std::vector<NetworkModel>> list() const;
  // Returns the model `name`, or if `name` is empty the only model whose output is `output`. Fails
  // with not_found if there is no such model, and with invalid_argument if `name` is empty and
  // several models have this output.
  [[nodiscard]] Result<NetworkModel> choose(const std::string& name, std::string_view output) const;

  // `body` is a streaming request for a chat completion. `say` is called with each part of the
  // text. `wanted` is called often; returning false ends the answer with the error `cancelled`.
  struct Listener {
    std::function<void(std::string_view text)> say;
    std::function<bool()> wanted;
  };
  [[nodiscard]] Result<NetworkAnswer> stream(const std::string& body,
                                             const Listener& listener) const;
  // Posts `body` and returns the answer's document.
  [[nodiscard]] Result<std::string> post(const std::string& path, const std::string& body,
                                         const std::function<bool()>& wanted) const;

 private:
  NetworkModels(net::Url url, net::TlsOptions tls, std::string key)
      : url_(std::move(url)), tls_(std::move(tls)), key_(std::move(key)) {}
  [[nodiscard]] net::Request with_key(net::Request request) const;

  net::Url url_;
  net::TlsOptions tls_;
  std::string key_;
};

}  // namespace weft::cli
