// A coordinator's language models, asked over HTTP as OpenAI's clients do: which there are, answers
// bit by bit, vectors. For the commands that take --network.
//
// Blocking; any thread. Lifetime: what `wanted` refers to outlives it.
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
  std::string coordinator;  // Its URL.
  net::TlsOptions tls;
  std::string key_file;  // Holds an API key; empty: WEFT_API_KEY, where it is set.
};

// The API key that the file holds, and nothing else.
[[nodiscard]] Result<std::string> read_key_file(const std::filesystem::path& file);

struct NetworkModel {
  std::string name;
  std::string state;   // "ready", "loading", "no worker".
  std::string output;  // "text", "embedding".
  std::uint64_t context = 0;
  MicroCredits price = 0;  // For 1,000 tokens.
};

// What was said of an answer besides its text.
struct NetworkAnswer {
  std::string text;    // Without thoughts.
  std::string finish;  // "stop", "length", "tool_calls".
  std::uint64_t prompt_tokens = 0, answer_tokens = 0;
  std::vector<std::string> workers;
  double first_s = 0, whole_s = 0;  // Until its first bit, and its end.
};

class NetworkModels {
 public:
  [[nodiscard]] static Result<NetworkModels> create(const NetworkModelsOptions& options);

  [[nodiscard]] bool has_key() const { return !key_.empty(); }
  [[nodiscard]] Result<std::vector<NetworkModel>> list() const;
  // The model `name`, or the only model whose output is `output` if `name` is empty. not_found if
  // there is no such model, invalid_argument if there are several and `name` is empty.
  [[nodiscard]] Result<NetworkModel> choose(const std::string& name, std::string_view output) const;

  // `body`: a streamed request of chat completions. `say` is told of each bit of the text;
  // `wanted` is looked at often, and false ends the answer with the error `cancelled`.
  struct Listener {
    std::function<void(std::string_view text)> say;
    std::function<bool()> wanted;
  };
  [[nodiscard]] Result<NetworkAnswer> stream(const std::string& body,
                                             const Listener& listener) const;
  // The document that answers `body`.
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
