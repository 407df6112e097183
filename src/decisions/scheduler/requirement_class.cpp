#include "decisions/scheduler/requirement_class.h"

#include <algorithm>

#include "common/base/format.h"

namespace weft::scheduler {

ClassKey ClassKey::of(const Job& job) {
  ClassKey key{.kind = job.kind,
               .features = job.requirements.features,
               .limits = job.requirements.limits,
               .memory_bytes = job.requirements.memory_bytes};
  if (job.kind == manifest::Kind::onnx) key.features.emplace_back(manifest::onnx_feature);
  std::ranges::sort(key.features);
  const auto doubles = std::ranges::unique(key.features);
  key.features.erase(doubles.begin(), doubles.end());
  return key;
}

bool fits(const Worker& worker, const ClassKey& key) {
  const protocol::Capabilities& has = worker.capabilities;
  if (has.device == protocol::DeviceKind::cpu && key.kind != manifest::Kind::kernel) return false;
  if (has.memory_bytes < key.memory_bytes) return false;
  if (!std::ranges::all_of(key.features, [&](const std::string& feature) {
        return std::ranges::contains(has.features, feature);
      }))
    return false;
  return std::ranges::all_of(key.limits, [&](const auto& limit) {
    const auto found = has.limits.find(limit.first);
    return found != has.limits.end() && found->second >= limit.second;
  });
}

std::vector<std::string> lacking(const Worker& worker, const ClassKey& key) {
  std::vector<std::string> words;
  const protocol::Capabilities& has = worker.capabilities;
  if (has.device == protocol::DeviceKind::cpu && key.kind != manifest::Kind::kernel)
    words.emplace_back("a GPU");
  if (has.memory_bytes < key.memory_bytes)
    words.push_back(weft::format("{} MiB of memory", (key.memory_bytes + (1 << 20) - 1) >> 20));
  for (const std::string& feature : key.features) {
    if (std::ranges::contains(has.features, feature)) continue;
    words.push_back(feature == manifest::onnx_feature ? "a GPU worker that runs ONNX models"
                                                      : "the feature " + feature);
  }
  for (const auto& [name, least] : key.limits) {
    const auto found = has.limits.find(name);
    if (found == has.limits.end() || found->second < least)
      words.push_back(weft::format("the limit {} of {}", name, least));
  }
  return words;
}

}  // namespace weft::scheduler
