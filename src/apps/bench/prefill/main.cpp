// prefill_bench: measures the prefill of a prompt of 512 rows on this machine's GPU, kernel by
// kernel and as a whole chain.
//
//   prefill_bench                     the layers of three models: every kernel, the sum, and all
//                                     layers in one pass
//   prefill_bench sweep               the tunings of every product, of attention and of DeltaNet,
//                                     the fastest first
//   prefill_bench delta               the tunings of DeltaNet alone
//   prefill_bench halves              the chains with rows in f16 between the kernels
//   prefill_bench rows=64 layers=1    fewer rows, one layer
//
// Times are measured by the GPU (timestamps), after half a second of work. Build: ninja
// prefill_bench.
#include <algorithm>
#include <charconv>
#include <print>
#include <span>
#include <string>
#include <vector>

#include "apps/bench/prefill/chains.h"
#include "apps/bench/prefill/sweeps.h"
#include "engine/gpu/native/instance.h"

namespace weft::kernels {
namespace {

int bench(std::span<const std::string_view> arguments) {
  const auto instance = gpu::native::create_instance();
  auto device = gpu::run(
      *instance, instance->create_device({.label = "prefill_bench", .trusted_shaders = true}));
  if (!device) {
    std::println("{}", device.error().message);
    return 1;
  }
  std::println("{}", (*device)->adapter().device);
  BenchOptions options;
  for (const std::string_view argument : arguments) {
    const auto number = [&](std::string_view name, std::uint32_t& out) {
      if (argument.starts_with(name))
        std::from_chars(argument.data() + name.size(), argument.data() + argument.size(), out);
    };
    number("rows=", options.rows);
    number("layers=", options.layers_max);
    number("warm=", options.warm_up_ms);
    number("shapes=", options.shapes_max);
  }
  options.halves = std::ranges::contains(arguments, "halves");
  BenchDevice one(*instance, **device, options);
  if (std::ranges::contains(arguments, "delta")) {
    sweep_delta(one);
  } else if (std::ranges::contains(arguments, "sweep")) {
    sweep_matmul(one);
    sweep_attention(one);
    sweep_delta(one);
  } else {
    measure_chains(one);
  }
  for (const std::string& error : (*device)->uncaptured_errors()) std::println("{}", error);
  return 0;
}

}  // namespace
}  // namespace weft::kernels

int main(int count, char** values) {
  const std::vector<std::string_view> arguments(values + 1, values + count);
  return weft::kernels::bench(arguments);
}
