// Helpers that the scheduler's tests share: keys, workers and jobs by number, and readers of
// decisions.
#pragma once

#include <cstring>
#include <ranges>
#include <vector>

#include "decisions/scheduler/scheduler.h"

namespace weft::scheduler {

inline PublicKey key_of(std::uint64_t number) {
  PublicKey key;
  std::memcpy(key.bytes.data(), &number, sizeof number);
  return key;
}
inline JobId job_id_of(std::uint64_t number) {
  JobId id;
  std::memcpy(id.bytes.data(), &number, sizeof number);
  return id;
}
inline Instant at(double seconds) {
  return Instant(
      std::chrono::duration_cast<Duration>(std::chrono::duration<double>(1000 + seconds)));
}

inline Worker native_worker(std::uint64_t number, double tflops = 1) {
  Worker worker{.key = key_of(number),
                .kind = protocol::WorkerKind::native,
                .slots = 4,
                .capabilities = {},
                .sharing = Sharing::in_turn};
  worker.capabilities.memory_bytes = 1 << 30;
  worker.capabilities.f32_gflop_per_s = tflops * 1000;
  return worker;
}
inline Worker browser_worker(std::uint64_t number, double tflops = 0.1) {
  Worker worker = native_worker(number, tflops);
  worker.kind = protocol::WorkerKind::browser;
  return worker;
}
inline Job small_job(std::uint64_t number, std::uint32_t tasks = 4, std::uint32_t replicas = 1) {
  return {.id = job_id_of(number),
          .kind = manifest::Kind::wgsl,
          .requirements = {},
          .priority = 50,
          .tasks = tasks,
          .workgroups = tasks * 10,
          .replicas = replicas,
          .replicas_first = 0,
          .budget = 1'000'000'000,
          .per_unit = 0,
          .stake = 0,
          .waited = {},
          .deadline = {},
          .estimate = {},
          .client = {},
          .share = 1,
          .states_shared = replicas == 1};
}
// A job whose canary passed long ago: a workgroup takes `pace` reference seconds.
inline Job known_job(std::uint64_t number, std::uint32_t tasks = 4, std::uint32_t replicas = 1,
                     double pace = 0.1) {
  Job job = small_job(number, tasks, replicas);
  job.estimate =
      estimate({.workgroups = job.workgroups, .tasks = tasks, .replicas = replicas}, pace, {});
  return job;
}

template <class T>
std::vector<T> all(const std::vector<Decision>& decisions) {
  std::vector<T> found;
  for (const Decision& decision : decisions) {
    if (const T* one = std::get_if<T>(&decision)) found.push_back(*one);
  }
  return found;
}

}  // namespace weft::scheduler
