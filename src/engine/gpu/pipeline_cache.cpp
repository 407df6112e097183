#include "engine/gpu/pipeline_cache.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "common/base/format.h"

namespace weft::gpu {
namespace {

// Makes a key of all options except the label. Each text is preceded by its length, so that two
// different sets of options never have equal keys.
std::string key_of(const PipelineOptions& options) {
  std::string key = weft::format("{} {} {} {}", options.entry.size(), options.entry,
                                 options.wgsl.size(), options.immediate_bytes);
  for (const auto& [name, value] : options.constants)
    key += weft::format("|{} {}={:x}", name.size(), name, std::bit_cast<std::uint64_t>(value));
  for (const GroupLayout& group : options.groups) {
    key += "|g";
    for (const BindingLayout& binding : group)
      key += weft::format(" {}:{}", binding.binding, static_cast<int>(binding.kind));
  }
  return key + "|" + options.wgsl;
}

}  // namespace

Async<Result<std::shared_ptr<const Pipeline>>> PipelineCache::get(PipelineOptions options) {
  const std::string key = key_of(options);
  const auto [found, is_new] = entries_.try_emplace(key);
  found->second.last_use = ++uses_;
  if (!is_new) {
    if (found->second.pipeline) co_return found->second.pipeline;
    Wait<Shared> wait(device_.backend().ready());
    found->second.waiting.push_back(wait.completion());
    co_return co_await wait;
  }
  // If this coroutine is destroyed before its end, the waiting requests fail and may try again.
  struct Guard {
    PipelineCache* cache;
    const std::string* key;
    ~Guard() {
      if (cache != nullptr)
        cache->settle(*key, fail(ErrorCode::cancelled, "The compilation was abandoned."));
    }
  } guard{this, &key};
  Result<Pipeline> made = co_await device_.create_pipeline(std::move(options));
  guard.cache = nullptr;
  Result<Shared> result = std::move(made).transform(
      [](Pipeline pipeline) { return std::make_shared<const Pipeline>(std::move(pipeline)); });
  settle(key, result);
  co_return result;
}

void PipelineCache::settle(const std::string& key, Result<Shared> result) {
  const auto entry = entries_.find(key);
  const auto waiting = std::exchange(entry->second.waiting, {});
  if (result) {
    entry->second.pipeline = *result;
    shrink();
  } else {
    entries_.erase(entry);
  }
  for (const auto& completion : waiting) completion(result);
}

void PipelineCache::shrink() {
  while (entries_.size() > options_.pipelines_max) {
    const auto age = [](const auto& row) {
      return row.second.pipeline ? row.second.last_use : ~std::uint64_t{0};
    };
    const auto oldest = std::ranges::min_element(entries_, {}, age);
    // All pipelines are still being compiled, so none can be removed.
    if (!oldest->second.pipeline) return;
    entries_.erase(oldest);
  }
}

}  // namespace weft::gpu
