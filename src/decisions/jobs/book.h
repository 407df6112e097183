// The facts that the core shares with other threads: the manifests of running jobs, the tokens of
// connected workers, the clients that hold credits, the numbers of jobs and tasks that owners run,
// and the devices that act for one owner. The core writes them; the threads that check messages,
// uploads and reads only read them.
//
// Threading: any.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "common/base/guarded.h"
#include "common/records/device.h"
#include "decisions/jobs/events.h"
#include "decisions/jobs/worker_blobs.h"

namespace weft::jobs {

class Book {
 public:
  using Manifest = std::shared_ptr<const manifest::Manifest>;

  // `text` is the hash of the manifest in the form that workers get.
  void add_job(const JobId& job, Manifest manifest, const Hash& text) {
    worker_blobs_.add_job(job, *manifest, text);
    jobs_.with([&](auto& jobs) { jobs[job] = std::move(manifest); });
  }
  void remove_job(const JobId& job) {
    const Manifest ended = manifest(job);
    jobs_.with([&](auto& jobs) { jobs.erase(job); });
    worker_blobs_.remove_job(job);
    if (ended && ended_) ended_(job, *ended);
  }
  // Sets the function that is called on the core's thread when a job ends, for a part that keeps
  // data about running jobs. Must be set before the core runs.
  void when_ended(std::function<void(const JobId&, const manifest::Manifest&)> ended) {
    ended_ = std::move(ended);
  }
  // Null if the job does not run.
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
  // The blobs that workers may store and read.
  [[nodiscard]] WorkerBlobs& worker_blobs() { return worker_blobs_; }
  [[nodiscard]] const WorkerBlobs& worker_blobs() const { return worker_blobs_; }
  // The connected worker that has this token.
  [[nodiscard]] std::optional<PublicKey> worker_of(std::string_view token) const {
    return tokens_.with([&](const auto& tokens) {
      const auto found = tokens.find(std::string(token));
      return found == tokens.end() ? std::nullopt : std::optional(found->second);
    });
  }

  // Marks a connected worker as known: the operator invited it, or its work has established it. The
  // limits for strangers do not hold for known workers.
  void set_known(const PublicKey& worker, bool known) {
    known_.with(
        [&](auto& workers) { known ? (void)workers.insert(worker) : (void)workers.erase(worker); });
  }
  [[nodiscard]] bool is_known(const PublicKey& worker) const {
    return known_.with([&](const auto& workers) { return workers.contains(worker); });
  }
  [[nodiscard]] std::size_t known() const {
    return known_.with([](const auto& workers) { return workers.size(); });
  }

  // Marks a connected worker as a root (decisions/trust/levels.h).
  void set_root(const PublicKey& worker, bool root) {
    roots_.with(
        [&](auto& workers) { root ? (void)workers.insert(worker) : (void)workers.erase(worker); });
  }
  [[nodiscard]] bool is_root(const PublicKey& worker) const {
    return roots_.with([&](const auto& workers) { return workers.contains(worker); });
  }

  // Sets the time until which a convicted worker serves no models.
  void bar(const PublicKey& worker, UnixMillis until) {
    barred_.with([&](auto& workers) { workers[worker] = until; });
  }
  [[nodiscard]] bool is_barred(const PublicKey& worker, UnixMillis now) const {
    return barred_.with([&](const auto& workers) {
      const auto found = workers.find(worker);
      return found != workers.end() && now < found->second;
    });
  }

  // The number of running jobs of an owner, and of their tasks.
  struct Load {
    std::uint64_t jobs = 0;
    std::uint64_t tasks = 0;
  };
  void set_load(const OwnerId& owner, const Load& load) {
    loads_.with([&](auto& loads) {
      if (load.jobs == 0) {
        loads.erase(owner);
      } else {
        loads[owner] = load;
      }
    });
  }
  [[nodiscard]] Load load_of(const OwnerId& owner) const {
    return loads_.with([&](const auto& loads) {
      const auto found = loads.find(owner);
      return found == loads.end() ? Load{} : found->second;
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

  // Notes a device that was added or revoked. A key without a row is an owner by itself.
  void set_device(const store::Device& device) {
    devices_.with([&](auto& devices) { devices.insert_or_assign(device.key, device); });
  }
  [[nodiscard]] OwnerId owner_of(const PublicKey& key) const {
    return devices_.with([&](const auto& devices) {
      const auto row = devices.find(key);
      return row == devices.end() ? OwnerId::of_first(key) : row->second.owner;
    });
  }
  // True if `reader` acts for the owner of `key`. False for revoked devices and recovery devices.
  [[nodiscard]] bool sees(const PublicKey& reader, const PublicKey& key) const {
    return devices_.with([&](const auto& devices) {
      const auto owner_of = [&](const PublicKey& one) {
        const auto row = devices.find(one);
        return row == devices.end() ? OwnerId::of_first(one) : row->second.owner;
      };
      const auto row = devices.find(reader);
      const bool acts = row == devices.end() ||
                        (row->second.revoked == 0 && row->second.role == store::DeviceRole::full);
      return acts && owner_of(reader) == owner_of(key);
    });
  }

 private:
  std::function<void(const JobId&, const manifest::Manifest&)> ended_;
  Guarded<std::unordered_map<JobId, Manifest>> jobs_;
  Guarded<std::unordered_map<std::string, PublicKey>> tokens_;
  WorkerBlobs worker_blobs_;
  Guarded<std::unordered_map<OwnerId, Load>> loads_;
  Guarded<std::unordered_set<PublicKey>> funded_;
  Guarded<std::unordered_map<PublicKey, UnixMillis>> barred_;
  Guarded<std::unordered_set<PublicKey>> known_;
  Guarded<std::unordered_set<PublicKey>> roots_;
  Guarded<std::unordered_map<PublicKey, store::Device>> devices_;
};

}  // namespace weft::jobs
