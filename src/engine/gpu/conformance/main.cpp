// gpu_conformance: runs every check on this machine's GPU or in this browser, one line each; exit
// code 1 if any failed.
#include <cstdio>
#include <memory>
#include <print>

#include "engine/gpu/conformance/conformance.h"
#include "engine/gpu/report.h"
#ifdef __EMSCRIPTEN__
#include <emscripten/emscripten.h>

#include "engine/gpu/web/instance.h"
#else
#include "engine/gpu/native/instance.h"
#endif

namespace {

using namespace weft;

Async<int> run_all(gpu::Instance* instance) {
  auto adapters = co_await instance->adapters();
  if (!adapters) {
    std::println("FAILED adapters: {}", adapters.error().message);
    co_return 1;
  }
  for (const gpu::AdapterInfo& adapter : *adapters) {
    std::println("adapter {} | {} | {} | {} | {} | subgroups {}..{}", adapter.vendor,
                 adapter.architecture, adapter.device, adapter.description,
                 gpu::to_string(adapter.kind), adapter.subgroup_size_min,
                 adapter.subgroup_size_max);
  }
  int passed = 0;
  int failed = 0;
  int skipped = 0;
  for (const auto checks : {gpu::conformance::compute_checks(), gpu::conformance::error_checks()}) {
    for (const gpu::conformance::Check& check : checks) {
      const Result<> result = co_await check.run(*instance);
      const bool missing = !result && result.error().code == ErrorCode::unsupported;
      ++(result ? passed : missing ? skipped : failed);
      std::println("{} {}{}{}",
                   result    ? "ok"
                   : missing ? "skipped"
                             : "FAILED",
                   check.name, result ? "" : ": ", result ? "" : result.error().message);
      std::fflush(stdout);
    }
  }
  if (const auto device = co_await instance->create_device({}); device) {
    if (const auto report = co_await gpu::measure(**device); report) {
      std::println("copies {:.2f} GB/s, computes {:.1f} GFLOP/s in f32, {:.1f} GOP/s in int8",
                   report->copy_bytes_per_second * 1e-9, report->f32_operations_per_second * 1e-9,
                   report->int8_operations_per_second.value_or(0) * 1e-9);
    } else {
      ++failed;
      std::println("FAILED measure: {}", report.error().message);
    }
  }
  std::println("{} passed, {} skipped, {} failed", passed, skipped, failed);
  std::fflush(stdout);
  co_return failed == 0 ? 0 : 1;
}

}  // namespace

int main() {
#ifdef __EMSCRIPTEN__
  static const auto instance = gpu::web::create_instance();
  start<int>(run_all(instance.get()), [](int code) { emscripten_force_exit(code); });
  return 0;
#else
  const auto instance = gpu::native::create_instance();
  return run(*instance, run_all(instance.get()));
#endif
}
