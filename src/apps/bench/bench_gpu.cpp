#include "apps/bench/bench_gpu.h"

#include <cstdio>
#include <string>
#include <vector>

#include <glaze/glaze.hpp>

#include "apps/cli/exit_code.h"
#include "apps/cli/progress.h"
#include "common/base/format.h"
#include "engine/gpu/bench/bench.h"
#include "engine/gpu/native/instance.h"

namespace weft::cli {

// A part of the --json document. The member names are part of the interface.
struct BenchGpuAdapter {
  std::string vendor, architecture, device, description, driver, backend, kind;
  std::uint32_t subgroup_size_min = 0, subgroup_size_max = 0;
  std::vector<std::string> features, wgsl_features;
};
struct BenchGpuPeak {
  std::string type;
  double gops = 0;
};
struct BenchGpuMatrix {
  std::string kernel, type;
  std::uint32_t m = 0, n = 0, k = 0;
  double us = 0, gb_per_s = 0, gops = 0, of_copy_bandwidth = 0, of_peak = 0;
};
struct BenchGpuDocument {
  BenchGpuAdapter adapter;
  bool trusted_shaders = true, gpu_clock = false;
  std::uint32_t dispatches = 0;
  double dispatch_gpu_us = 0, dispatch_record_us = 0, dispatch_submit_us = 0;
  double copy_gb_per_s = 0, upload_gb_per_s = 0, readback_us = 0;
  std::vector<BenchGpuPeak> peaks = {};
  std::vector<BenchGpuMatrix> matrices = {};
};

namespace {

BenchGpuAdapter to_document(const gpu::AdapterInfo& adapter) {
  return {.vendor = adapter.vendor,
          .architecture = adapter.architecture,
          .device = adapter.device,
          .description = adapter.description,
          .driver = adapter.driver,
          .backend = adapter.backend,
          .kind = std::string(gpu::to_string(adapter.kind)),
          .subgroup_size_min = adapter.subgroup_size_min,
          .subgroup_size_max = adapter.subgroup_size_max,
          .features = adapter.features,
          .wgsl_features = adapter.wgsl_features};
}

BenchGpuDocument to_document(const gpu::bench::Results& results, bool trusted) {
  BenchGpuDocument document{.adapter = to_document(results.adapter),
                            .trusted_shaders = trusted,
                            .gpu_clock = results.by_timestamps};
  document.dispatches = results.dispatch.dispatches;
  document.dispatch_gpu_us = results.dispatch.gpu_seconds * 1e6;
  document.dispatch_record_us = results.dispatch.record_seconds * 1e6;
  document.dispatch_submit_us = results.dispatch.submit_seconds * 1e6;
  document.copy_gb_per_s = results.copy_bytes_per_second * 1e-9;
  document.upload_gb_per_s = results.upload_bytes_per_second * 1e-9;
  document.readback_us = results.readback_seconds * 1e6;
  for (const auto& peak : results.peaks)
    document.peaks.push_back(
        {std::string(gpu::to_string(peak.arithmetic)), peak.operations_per_second * 1e-9});
  for (const auto& rate : results.matrices) {
    document.matrices.push_back({.kernel = rate.is_product ? "matmul" : "matvec",
                                 .type = std::string(gpu::to_string(rate.arithmetic)),
                                 .m = rate.shape.m,
                                 .n = rate.shape.n,
                                 .k = rate.shape.k,
                                 .us = rate.seconds * 1e6,
                                 .gb_per_s = rate.bytes_per_second * 1e-9,
                                 .gops = rate.operations_per_second * 1e-9,
                                 .of_copy_bandwidth = rate.of_copy_bandwidth,
                                 .of_peak = rate.of_peak});
  }
  return document;
}

template <class Document>
int print_json(const Document& document) {
  const auto text = glz::write_json(document);
  if (!text)
    return report("bench gpu",
                  Error{ErrorCode::internal, "The results cannot be written as JSON."});
  std::printf("%s\n", text->c_str());
  return 0;
}

void print_table(const BenchGpuDocument& document) {
  const BenchGpuAdapter& adapter = document.adapter;
  std::printf("%s  %s\n%s, %s, subgroups of %u to %u%s\n\n", adapter.device.c_str(),
              adapter.description.c_str(), adapter.kind.c_str(), adapter.backend.c_str(),
              adapter.subgroup_size_min, adapter.subgroup_size_max,
              document.gpu_clock ? "" : ", timed by the wall clock");
  std::printf(
      "dispatch        %8.2f us on the GPU, %.2f us to record, %.2f us to submit (each of %u that "
      "wait for one another)\n",
      document.dispatch_gpu_us, document.dispatch_record_us, document.dispatch_submit_us,
      document.dispatches);
  std::printf("round trip      %8.1f us for a dispatch, a copy of 16 bytes and the answer\n",
              document.readback_us);
  std::printf("GPU memory      %8.1f GB/s read and written\n", document.copy_gb_per_s);
  std::printf("upload          %8.1f GB/s\n", document.upload_gb_per_s);
  for (const BenchGpuPeak& peak : document.peaks)
    std::printf("peak %-10s %8.0f GOP/s\n", peak.type.c_str(), peak.gops);
  std::printf("\n%-8s %-5s %22s %10s %10s %8s %10s %8s\n", "kernel", "type", "m x n x k", "us",
              "GB/s", "of copy", "GOP/s", "of peak");
  for (const BenchGpuMatrix& row : document.matrices) {
    std::printf("%-8s %-5s %22s %10.1f %10.1f %7.0f%% %10.0f %7.0f%%\n", row.kernel.c_str(),
                row.type.c_str(), weft::format("{} x {} x {}", row.m, row.n, row.k).c_str(), row.us,
                row.gb_per_s, 100 * row.of_copy_bandwidth, row.gops, 100 * row.of_peak);
  }
}

int list_adapters(gpu::PumpedInstance& instance, bool json) {
  const auto adapters = gpu::run(instance, instance.adapters());
  if (!adapters) return report("bench gpu", adapters.error());
  std::vector<BenchGpuAdapter> documents;
  for (const gpu::AdapterInfo& adapter : *adapters) documents.push_back(to_document(adapter));
  if (json) return print_json(documents);
  for (std::size_t i = 0; i < documents.size(); ++i)
    std::printf("%zu  %-10s %s  %s\n", i, documents[i].kind.c_str(), documents[i].device.c_str(),
                documents[i].description.c_str());
  return 0;
}

}  // namespace

int bench_gpu_command(const BenchGpuOptions& options) {
  const auto instance = gpu::native::create_instance();
  if (options.list) return list_adapters(*instance, options.json);
  const auto device = gpu::run(
      *instance, instance->create_device({.label = "bench", .trusted_shaders = !options.strangers},
                                         options.adapter));
  if (!device) return report("bench gpu", device.error());
  Result<gpu::bench::Results> results = [&] {
    Progress progress("bench gpu");
    return gpu::run(
        *instance,
        gpu::bench::run_bench(
            **device, {.progress = [&](std::string_view step, std::size_t done, std::size_t total) {
              progress.show(done, total, step);
            }}));
  }();
  if (!results) return report("bench gpu", results.error());
  const BenchGpuDocument document = to_document(*results, !options.strangers);
  if (options.json) return print_json(document);
  print_table(document);
  return 0;
}

}  // namespace weft::cli
