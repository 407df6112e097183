// Sends HTTP requests to one coordinator and waits for it: a request that gets no answer, or the
// answer "later", is sent again.
//
// Blocking; any thread. A request fails with cancelled at once if interrupted() (interruption.h).
// If the coordinator has never answered and cannot be reached, it fails with unavailable at once
// and names the reason. Otherwise it is sent again for `patience` before it fails with unavailable.
// Every request here may be repeated, because submissions carry a nonce. A longer wait is reported
// on standard error.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "common/base/result.h"
#include "platform/net/client.h"

namespace weft::cli {

// True if the answer's body is JSON by its content type.
[[nodiscard]] bool in_json(const net::Response& answer);

class PatientClient {
 public:
  PatientClient(std::unique_ptr<net::Client> client, std::string url,
                std::chrono::milliseconds patience)
      : client_(std::move(client)), url_(std::move(url)), patience_(patience) {}

  // An answer that is not ok() becomes an error; not_found if the server is no Weft coordinator.
  [[nodiscard]] Result<net::Response> send(const net::Request& request);
  // Sends a request once and returns any answer. `waiting` is called every few milliseconds until
  // the answer arrives.
  [[nodiscard]] Result<net::Response> ask(const net::Request& request,
                                          const std::function<void()>& waiting);

  // The URL as it was given, for messages.
  [[nodiscard]] const std::string& url() const { return url_; }
  [[nodiscard]] const net::Url& parsed_url() const { return client_->url(); }

 private:
  std::unique_ptr<net::Client> client_;
  const std::string url_;
  const std::chrono::milliseconds patience_;
  std::atomic<bool> reached_ = false;  // True after the first answer.
};

}  // namespace weft::cli
