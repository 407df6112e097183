// Newcomers by the address prefixes of the networks from which they come. All wallets of one prefix
// together get the share of one network. With P prefixes connected, each prefix may hold a P-th of
// a job's leases that newcomers may hold, and at least one lease.
//
// Pure. Memory: an entry for each prefix with a connected newcomer, and for each prefix with leases
// of a job.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

namespace weft::scheduler {

// Counts by prefix. The empty prefix, which is not a network of strangers, is not counted.
class PrefixCounts {
 public:
  void add(const std::string& prefix, int change) {
    if (prefix.empty()) return;
    auto& count = counts_[prefix];
    count += change;
    if (count <= 0) counts_.erase(prefix);
  }
  [[nodiscard]] int of(const std::string& prefix) const {
    const auto found = counts_.find(prefix);
    return found == counts_.end() ? 0 : found->second;
  }
  [[nodiscard]] std::size_t prefixes() const { return counts_.size(); }

 private:
  std::map<std::string, int> counts_;
};

// The number of a job's leases that newcomers of one prefix may hold, if all newcomers together may
// hold `all`.
[[nodiscard]] inline int prefix_share(double all, std::size_t prefixes) {
  return std::max(1,
                  static_cast<int>(all / static_cast<double>(std::max<std::size_t>(prefixes, 1))));
}

}  // namespace weft::scheduler
