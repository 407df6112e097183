// What the core lets other threads know: the manifests of running jobs, the tokens of connected workers, and which clients
// hold credits. The core writes; whoever checks messages and uploads reads.
//
// Threading: any.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "apps/coordinator/events.h"
#include "common/base/guarded.h"

namespace weft::coordinator {

class Book {
 public:
  using Manifest = std::shared_ptr<const manifest::Manifest>;

  void add_job(const JobId& job, Manifest manifest) {
    jobs_.with([&](auto& jobs) { jobs[job] = std::move(manifest); });
  }
  void remove_job(const JobId& job) {
    jobs_.with([&](auto& jobs) { jobs.erase(job); });
  }
  // Null for a job that does not run.
  [[nodiscard]] Manifest manifest(const JobId& job) const {
    return jobs_.with([&](const auto& jobs) {
      const auto found = jobs.find(job);
      return found == jobs.end() ? nullptr : found->second;
    });
  }

  void add_token(std::string token, const PublicKey& worker) {
    tokens_.with([&](auto& tokens) { tokens.insert_or_assign(std::move(token), worker); });
  }
  void remove_token(const std::string& token) {
    tokens_.with([&](auto& tokens) { tokens.erase(token); });
  }
  // The connected worker whose token it is.
  [[nodiscard]] std::optional<PublicKey> worker_of(std::string_view token) const {
    return tokens_.with([&](const auto& tokens) {
      const auto found = tokens.find(std::string(token));
      return found == tokens.end() ? std::nullopt : std::optional(found->second);
    });
  }

  // Until when a convicted worker serves no models.
  void bar(const PublicKey& worker, UnixMillis until) {
    barred_.with([&](auto& workers) { workers[worker] = until; });
  }
  [[nodiscard]] bool is_barred(const PublicKey& worker, UnixMillis now) const {
    return barred_.with([&](const auto& workers) {
      const auto found = workers.find(worker);
      return found != workers.end() && now < found->second;
    });
  }

  void set_funded(const PublicKey& client, bool funded) {
    funded_.with([&](auto& clients) {
      if (funded) {
        clients.insert(client);
      } else {
        clients.erase(client);
      }
    });
  }
  [[nodiscard]] bool is_funded(const PublicKey& client) const {
    return funded_.with([&](const auto& clients) { return clients.contains(client); });
  }

 private:
  Guarded<std::unordered_map<JobId, Manifest>> jobs_;
  Guarded<std::unordered_map<std::string, PublicKey>> tokens_;
  Guarded<std::unordered_set<PublicKey>> funded_;
  Guarded<std::unordered_map<PublicKey, UnixMillis>> barred_;
};

}  // namespace weft::coordinator
