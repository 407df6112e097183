// Keeps pipelines by their options, so that no pipeline is compiled twice. Several requests for one
// pipeline share one compilation; failures are not kept. (Between runs of a native program, Dawn's
// blob cache keeps compiled pipelines: DeviceOptions.)
//
// Threading: the device's thread. Lifetime: the device outlives the cache. Bound: pipelines_max;
// beyond it the pipeline that was not used for longest is removed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/gpu/backend.h"

namespace weft::gpu {

class PipelineCache {
 public:
  struct Options {
    std::size_t pipelines_max = 256;
  };
  explicit PipelineCache(Device& device) : PipelineCache(device, Options()) {}
  PipelineCache(Device& device, Options options) : device_(device), options_(options) {}
  PipelineCache(const PipelineCache&) = delete;

  // The pipeline with these options, compiled if it is new. Fails as Device::create_pipeline()
  // does.
  [[nodiscard]] Async<Result<std::shared_ptr<const Pipeline>>> get(PipelineOptions options);
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  using Shared = std::shared_ptr<const Pipeline>;
  struct Entry {
    Shared pipeline;                          // Null while it is being compiled.
    std::vector<Completion<Shared>> waiting;  // Requests that wait for the compilation.
    std::uint64_t last_use = 0;
  };
  void settle(const std::string& key, Result<Shared> result);
  void shrink();

  Device& device_;
  const Options options_;
  std::map<std::string, Entry> entries_;
  std::uint64_t uses_ = 0;
};

}  // namespace weft::gpu
