// A child for models that an attacker controls gets no rights from its parent: it is ended and
// restarted, and the worker continues.
#include "apps/worker/native/serving_process.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

namespace weft::worker {
namespace {

namespace fs = std::filesystem;

class ServingProcessTest : public testing::Test {
 protected:
  ServingProcessTest() {
    std::string name = (fs::temp_directory_path() / "weft-serving-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    client_ =
        net::Client::create({.url = "http://127.0.0.1:9"}).value();  // No process listens there.
  }
  ~ServingProcessTest() override {
    client_.reset();
    fs::remove_all(folder_);
  }
  std::unique_ptr<ServingProcess> start(const std::string& what) {
    return std::make_unique<ServingProcess>(
        *client_, nullptr,
        ServingProcess::Options{.program = WEFT_TEST_SERVING_CHILD,
                                .words = {what},
                                .gpu = false,
                                .models = folder_ / "models",
                                .retry_min = std::chrono::milliseconds(1),
                                .retry_max = std::chrono::milliseconds(2)});
  }
  // Waits for a child other than `before`; returns 0 if none starts.
  static pid_t another(const ServingProcess& process, pid_t before) {
    const Instant give_up = now() + std::chrono::seconds(60);
    while (now() < give_up) {
      const pid_t pid = process.pid();
      if (pid != 0 && pid != before) return pid;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return 0;
  }

  fs::path folder_;
  std::unique_ptr<net::Client> client_;
};

TEST_F(ServingProcessTest, EndsAChildThatSaysWhatNoServingSays) {
  for (const char* what : {"unknown", "huge", "cut", "asks", "range", "lines", "chunks"}) {
    SCOPED_TRACE(what);
    const auto process = start(what);
    pid_t pid = another(*process, 0);
    for (int round = 0; round < 2; ++round) {
      ASSERT_NE(pid, 0);
      pid = another(*process, pid);
    }
    EXPECT_NE(pid, 0) << "it is started again";
  }
  EXPECT_FALSE(fs::exists(folder_ / "models")) << "nothing was written for it";
}

TEST_F(ServingProcessTest, KeepsAChildThatSaysNothing) {
  const auto process = start("silent");
  const pid_t pid = another(*process, 0);
  ASSERT_NE(pid, 0);
  process->join("token");
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(process->pid(), pid);
}

TEST_F(ServingProcessTest, ServesNothingIfItCannotBeConfined) {
  const auto process = start("unconfined");
  const Instant give_up = now() + std::chrono::seconds(60);
  const pid_t pid = another(*process, 0);
  EXPECT_NE(pid, 0);
  while (process->pid() != 0 && now() < give_up)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(process->pid(), 0) << "no other is tried";
}

}  // namespace
}  // namespace weft::worker
