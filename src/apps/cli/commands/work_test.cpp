// Tests of the GPUs that `weft work --adapter` selects, of the wallet of each worker, and of the
// options that reach the workers' processes.
#include "apps/cli/commands/work.h"

#include <gtest/gtest.h>

namespace weft::cli {
namespace {

gpu::AdapterInfo adapter(gpu::AdapterKind kind) {
  gpu::AdapterInfo info;
  info.kind = kind;
  return info;
}

TEST(Work, AllMeansTheHardware) {
  using enum gpu::AdapterKind;
  const std::vector<gpu::AdapterInfo> mixed{adapter(discrete), adapter(cpu), adapter(discrete),
                                            adapter(integrated)};
  const std::vector<gpu::AdapterInfo> software{adapter(cpu), adapter(cpu)};

  EXPECT_EQ(chosen_gpus("all", mixed).value(), (std::vector<std::size_t>{0, 2, 3}));
  EXPECT_EQ(chosen_gpus("all", software).value().size(), 1U);
  EXPECT_EQ(chosen_gpus("all", {}).error().code, ErrorCode::unavailable);
}

TEST(Work, TakesNumbersOfGpusThatThereAre) {
  const std::vector<gpu::AdapterInfo> two(2);

  EXPECT_EQ(chosen_gpus("1", two).value(), (std::vector<std::size_t>{1}));
  EXPECT_EQ(chosen_gpus("1,0", two).value(), (std::vector<std::size_t>{1, 0}));
  EXPECT_EQ(chosen_gpus("2", two).error().code, ErrorCode::not_found);
  for (const char* wrong : {"", ",", "0,", "one", "-1", "0 1", "0,0", "99999999999999999999999"})
    EXPECT_EQ(chosen_gpus(wrong, two).error().code, ErrorCode::invalid_argument) << wrong;
}

TEST(Work, GivesEveryWorkerAWalletOfItsOwn) {
  EXPECT_EQ(wallet_of_worker("/home/a/wallet.json", 0), "/home/a/wallet.json");
  EXPECT_EQ(wallet_of_worker("/home/a/wallet.json", 1), "/home/a/wallet-2.json");
  EXPECT_EQ(wallet_of_worker("w", 2), "w-3");
}

TEST(Work, HandsAllOptionsOn) {
  worker::WorkOptions options;
  options.coordinator = "https://weft.example";
  options.adapter = 3;
  options.wallet = "w.json";
  options.slots = 7;
  options.wall_ms_max = 1234;
  options.memory_mb = 2048;
  options.slice_memory_mb = 256;
  options.price = 1.5;
  options.model_memory_mb = 0;
  options.model_disk_mb = 9;
  options.unsafe_sandbox = true;
  options.peer_listen = "none";
  options.peer_address = "1.2.3.4:5";
  options.tls = {.ca_cert = "ca.pem", .insecure = true};

  EXPECT_EQ(work_arguments(options), (std::vector<std::string>{"work",
                                                               "--coordinator",
                                                               "https://weft.example",
                                                               "--device",
                                                               "gpu",
                                                               "--adapter",
                                                               "3",
                                                               "--wallet",
                                                               "w.json",
                                                               "--slots",
                                                               "7",
                                                               "--wall-ms-max",
                                                               "1234",
                                                               "--memory-mb",
                                                               "2048",
                                                               "--slice-memory-mb",
                                                               "256",
                                                               "--price",
                                                               "1.500000",
                                                               "--model-memory-mb",
                                                               "0",
                                                               "--model-disk-mb",
                                                               "9",
                                                               "--peer-listen",
                                                               "none",
                                                               "--peer-address",
                                                               "1.2.3.4:5",
                                                               "--unsafe-sandbox",
                                                               "--ca-cert",
                                                               "ca.pem",
                                                               "--tls-insecure"}));
}

}  // namespace
}  // namespace weft::cli
