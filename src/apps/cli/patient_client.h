// HTTP requests to one coordinator that wait for it: a request that is not answered, or answered
// with "later", is tried again.
//
// Blocking; any thread; cancelled at once where interrupted() (interruption.h). A coordinator that
// has never answered and is not reached is unavailable at once, with the reason. One that has, or
// that says "later", is tried again for `patience` (every request here may be repeated: a
// submission carries a nonce), then unavailable. Standard error says so when that takes more than a
// moment.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "common/base/result.h"
#include "platform/net/client.h"

namespace weft::cli {

// Whether an answer says that its body is JSON.
[[nodiscard]] bool in_json(const net::Response& answer);

class PatientClient {
 public:
  PatientClient(std::unique_ptr<net::Client> client, std::string url,
                std::chrono::milliseconds patience)
      : client_(std::move(client)), url_(std::move(url)), patience_(patience) {}

  // An answer that is not ok() is its error; not_found if no Weft coordinator answers.
  [[nodiscard]] Result<net::Response> send(const net::Request& request);
  // Once, without the interpretation. `waiting` is called every few milliseconds until there is an
  // answer.
  [[nodiscard]] Result<net::Response> ask(const net::Request& request,
                                          const std::function<void()>& waiting);

  // As it was given, for sentences.
  [[nodiscard]] const std::string& url() const { return url_; }
  [[nodiscard]] const net::Url& parsed_url() const { return client_->url(); }

 private:
  std::unique_ptr<net::Client> client_;
  const std::string url_;
  const std::chrono::milliseconds patience_;
  std::atomic<bool> reached_ = false;  // It has answered once.
};

}  // namespace weft::cli
