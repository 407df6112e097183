// Wallets, roots and a job for tests of single parts of the referee.
#pragma once

#include <cstdint>
#include <vector>

#include "decisions/trust/referee_pass.h"
#include "decisions/trust/referee_tables.h"

namespace weft::trust {

inline constexpr UnixMillis part_now = 1'000'000;

inline PublicKey part_worker(std::uint8_t number) {
  PublicKey key;
  key.bytes[0] = number;
  return key;
}
inline Hash part_root(std::uint8_t number) {
  Hash hash;
  hash.bytes[0] = number;
  return hash;
}
inline TaskId part_task(std::uint32_t index) {
  TaskId task{.job = {}, .index = index};
  task.job.bytes[0] = 1;
  return task;
}

// The referee's tables with one job, none of whose tasks has been decided.
struct PartTables : RefereeTables {
  explicit PartTables(RefereeSettings chosen = {}, JobTerms terms = {.replicas = 2, .parts = 32})
      : RefereeTables(chosen, Secret{}) {
    votes.add_job(part_task(0).job, {.replicas = terms.replicas, .agree = {}}, 8);
    cases.add_job(part_task(0).job, std::move(terms), 8);
  }
  void establish(std::uint8_t number) {
    standing.book().restore(part_worker(number),
                            {.verified = 1000, .updated = part_now, .wrong = 0});
  }
  // Adds a result of this worker together with its receipt, so that it counts.
  void hand_in(std::uint32_t index, std::uint8_t worker, std::uint8_t root) {
    (void)votes.add_result({.task = part_task(index),
                            .worker = part_worker(worker),
                            .attempt = 1,
                            .root = part_root(root)});
    const std::vector<Claim> claims{
        {.task = part_task(index), .attempt = 1, .root = part_root(root)}};
    (void)votes.add_receipt(part_worker(worker), claims);
  }
};

template <class T>
std::vector<T> only(const RefereePass& pass) {
  std::vector<T> found;
  for (const Ruling& ruling : pass.out) {
    if (const T* one = std::get_if<T>(&ruling)) found.push_back(*one);
  }
  return found;
}

}  // namespace weft::trust
