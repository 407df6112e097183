#include "apps/cli/api_client.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "common/base/format.h"

namespace weft::cli {
Result<std::unique_ptr<ApiClient>> ApiClient::create(const Options& options) {
  WEFT_ASSIGN(auto client, net::Client::create({.url = options.url, .tls = options.tls}));
  return std::unique_ptr<ApiClient>(new ApiClient(std::move(client), options));
}

template <class View>
Result<View> ApiClient::get(const std::string& path) {
  WEFT_ASSIGN(const std::string document, requests_.read_document(path));
  return protocol::api::from_json<View>(document);
}

template <class View, class Row>
Result<View> ApiClient::get_pages(const std::string& path, std::vector<Row> View::* rows) {
  WEFT_ASSIGN(View all, get<View>(path));
  while (!all.next.empty()) {
    WEFT_ASSIGN(View page, get<View>(path + "?from=" + net::percent_encoded(all.next)));
    // Pages are in the order of their keys, so `next` must increase.
    if (!page.next.empty() && page.next <= all.next)
      return fail(ErrorCode::data_loss,
                  "The coordinator's pages of {} are not in order: a page begins at or before the "
                  "one that it follows.",
                  path);
    std::ranges::move(page.*rows, std::back_inserter(all.*rows));
    all.next = std::move(page.next);
  }
  return all;
}

Result<protocol::api::Info> ApiClient::info() { return get<protocol::api::Info>("/v1/info"); }

Result<protocol::api::Submitted> ApiClient::submit(const std::string& manifest,
                                                   const crypto::KeyPair& wallet, ByteSpan nonce,
                                                   const PriceWanted& price) {
  std::string path = "/v1/jobs";
  if (!price.quote.empty()) path += "?quote=" + price.quote;
  if (price.max)
    path += weft::format("{}max_price={}", price.quote.empty() ? "?" : "&", *price.max);
  WEFT_ASSIGN(const net::Response answer, requests_.post(path, manifest, wallet, nonce));
  return protocol::api::from_json<protocol::api::Submitted>(answer.body);
}

Result<protocol::api::Quote> ApiClient::quote(const std::string& manifest,
                                              const crypto::KeyPair& wallet) {
  WEFT_ASSIGN(const net::Response answer, requests_.post("/v1/jobs/quote", manifest, wallet));
  return protocol::api::from_json<protocol::api::Quote>(answer.body);
}

Result<protocol::api::Job> ApiClient::job(const std::string& id) {
  return get<protocol::api::Job>("/v1/jobs/" + id);
}

Result<protocol::api::Verdict> ApiClient::verdict(const std::string& id,
                                                  std::optional<std::uint32_t> task) {
  return get<protocol::api::Verdict>(
      weft::format("/v1/jobs/{}/verdict{}", id, task ? weft::format("?task={}", *task) : ""));
}

Result<protocol::api::Verdict> ApiClient::verdict_of_worker(const std::string& worker) {
  return get<protocol::api::Verdict>("/v1/workers/" + worker + "/verdict");
}

Result<protocol::api::Tasks> ApiClient::tasks(const std::string& id) {
  protocol::api::Tasks all;
  do {
    WEFT_ASSIGN(protocol::api::Tasks page,
                get<protocol::api::Tasks>(weft::format("/v1/tasks?job={}&from={}", id, all.next)));
    if (page.next != 0 && page.next <= all.next)
      return fail(ErrorCode::data_loss,
                  "The coordinator's pages of tasks are not in order: a page begins at or before "
                  "the one that it follows.");
    all.job = std::move(page.job);
    all.next = page.next;
    std::ranges::move(page.tasks, std::back_inserter(all.tasks));
  } while (all.next != 0);
  return all;
}

Result<ByteVector> ApiClient::output(const std::string& job, std::size_t index) {
  net::Request request = net::get("/v1/jobs/" + job + "/outputs/" + std::to_string(index));
  request.timeout = std::chrono::minutes(10);
  WEFT_ASSIGN(const net::Response answer, requests_.read(std::move(request)));
  const ByteSpan bytes = as_bytes(answer.body);
  return ByteVector(bytes.begin(), bytes.end());
}

Result<protocol::api::Workers> ApiClient::workers() {
  return get_pages("/v1/workers", &protocol::api::Workers::workers);
}

Result<protocol::api::Clients> ApiClient::clients() {
  return get_pages("/v1/clients", &protocol::api::Clients::clients);
}

Result<protocol::api::Ledger> ApiClient::ledger() {
  return get_pages("/v1/ledger", &protocol::api::Ledger::balances);
}

Result<protocol::api::Settlement> ApiClient::settlement() {
  return get_pages("/v1/settlement", &protocol::api::Settlement::owners);
}

Result<protocol::api::LedgerAccount> ApiClient::account(const std::string& name, std::uint64_t from,
                                                        std::uint32_t count) {
  return get<protocol::api::LedgerAccount>(
      weft::format("/v1/ledger?account={}&from={}&count={}", name, from, count));
}

Result<protocol::api::LedgerJob> ApiClient::job_ledger(const std::string& job, std::uint64_t from,
                                                       std::uint32_t count) {
  return get<protocol::api::LedgerJob>(
      weft::format("/v1/ledger?job={}&from={}&count={}", job, from, count));
}

Result<protocol::api::Owner> ApiClient::owner(const crypto::KeyPair& wallet) {
  WEFT_ASSIGN(const net::Response answer, requests_.get("/v1/owner", wallet));
  return protocol::api::from_json<protocol::api::Owner>(answer.body);
}

Result<protocol::api::Job> ApiClient::cancel(const std::string& job,
                                             const crypto::KeyPair& wallet) {
  WEFT_ASSIGN(const net::Response answer, requests_.remove("/v1/jobs/" + job, wallet));
  return protocol::api::from_json<protocol::api::Job>(answer.body);
}

}  // namespace weft::cli
