// Real children with a real (software) GPU: a stranger's shader can destroy only its own process,
// and that process can only compute.
#include "worker/sandbox/sandbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <seccomp.h>
#include <set>

#include <sys/stat.h>

#include "common/manifest/manifest.h"
#include "worker/sandbox/sandbox_runner.h"
#include "worker/sandbox/seccomp_filter.h"

namespace weft::worker {
namespace {

using namespace std::chrono_literals;

const Sandbox::Options options{.program = WEFT_SANDBOX_CHILD, .arguments = {}};

constexpr std::string_view count_up =
    "@group(0) @binding(0) var<storage, read_write> y: array<u32>;\n"
    "@compute @workgroup_size(16) fn main(@builtin(global_invocation_id) id: vec3u) { y[id.x] = "
    "id.x * 3u; }";
constexpr std::string_view endless =
    "@group(0) @binding(0) var<storage, read_write> y: array<u32>;\n"
    "@compute @workgroup_size(16) fn main(@builtin(global_invocation_id) id: vec3u) {\n"
    "  var i = 0u; loop { i = i * 1664525u + y[id.x] + 1u; y[id.x] = i; if (i == 0u && id.x > "
    "1000u) { break; } } }";

std::shared_ptr<const exec::Job> job_of(std::string_view shader, std::uint64_t elements = 64) {
  const std::string text =
      R"({"weft":1,"kind":"wgsl","name":"t","shader":{"inline":"x"},"entry":"main","bindings":[{"binding":0,"role":"output","type":"u32","shape":[)" +
      std::to_string(elements) +
      R"(],"split_dim":0}],"dispatch":[4],"split":{"tasks":1,"axis":"x"}})";
  return std::make_shared<const exec::Job>(exec::Job{
      .manifest = manifest::parse(text).value(), .shader = std::string(shader), .data = {{}}});
}
TaskRun task_of(std::shared_ptr<const exec::Job> job, Duration wall_max = 30s) {
  return {.job = std::move(job),
          .options = {.range = {.first = 0, .count = 4}, .piece_workgroups_max = 0},
          .wall_max = wall_max};
}
ByteVector expected() {
  ByteVector bytes;
  for (std::uint32_t i = 0; i < 64; ++i) append_le(bytes, i * 3);
  return bytes;
}

TEST(Sandbox, RunsATaskAndSaysWhatItsDeviceIs) {
  const auto sandbox = Sandbox::start(options).value();

  const auto capabilities = sandbox->describe();
  const auto output = sandbox->run(task_of(job_of(count_up)));

  ASSERT_TRUE(capabilities.has_value()) << capabilities.error().message;
  EXPECT_EQ(capabilities->device, protocol::DeviceKind::gpu);
  EXPECT_GT(capabilities->limits.at("maxBufferSize"), 0U);
  EXPECT_EQ(capabilities->memory_bytes, options.memory_bytes);
  ASSERT_TRUE(output.has_value()) << output.error().message;
  EXPECT_EQ(output->outputs, std::vector<ByteVector>{expected()});
}

TEST(Sandbox, KeepsMoreJobsThanItHoldsApart) {
  const auto sandbox = Sandbox::start(options).value();
  std::vector<std::shared_ptr<const exec::Job>> jobs;
  for (int i = 0; i < 6; ++i) {
    std::string shader(count_up);
    shader.replace(shader.rfind("3u"), 2, std::to_string(i) + "u");
    jobs.push_back(job_of(shader));
  }
  for (const int index : {0, 1, 2, 3, 4, 5, 0, 5, 1, 0}) {
    const auto output = sandbox->run(task_of(jobs[static_cast<std::size_t>(index)]));
    ASSERT_TRUE(output.has_value()) << output.error().message;
    EXPECT_EQ(output->outputs[0][4], index) << "element 1 is 1 * " << index;
  }
}

TEST(Sandbox, NamesLineAndColumnOfAShaderThatDoesNotCompileAndLivesOn) {
  const auto sandbox = Sandbox::start(options).value();
  const auto wrong = job_of("@compute @workgroup_size(1)\nfn main() {\n  let q: i32 = 1.5;\n}");

  for (const auto& refused : {sandbox->check(*wrong), Result<>(pass(sandbox->run(task_of(wrong)))),
                              Result<>(pass(sandbox->run(task_of(wrong))))}) {
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(refused.error().message, testing::HasSubstr("3:"));
  }
  EXPECT_TRUE(sandbox->check(*job_of(count_up)).has_value());
  EXPECT_TRUE(sandbox->run(task_of(job_of(count_up))).has_value());
  EXPECT_TRUE(sandbox->alive());
}

TEST(Sandbox, EndsAShaderThatNeverDoes) {
  const auto sandbox = Sandbox::start(options).value();
  ASSERT_TRUE(sandbox->wait_ready().has_value());

  const auto output = sandbox->run(task_of(job_of(endless), 500ms));

  ASSERT_FALSE(output.has_value());
  EXPECT_EQ(output.error(), (Error{ErrorCode::deadline_exceeded,
                                   "The task took longer than 500 ms and was ended."}));
  EXPECT_FALSE(sandbox->alive());
  EXPECT_EQ(::kill(sandbox->pid(), 0), -1);  // The process does not exist any more.
}

// The driver's manifest is in a folder that the child may read, and its library is not.
TEST(Sandbox, NamesTheFileOfADriverThatItMayNotRead) {
  std::string pattern = (std::filesystem::temp_directory_path() / "weft-driver-XXXXXX").string();
  const std::filesystem::path folder = mkdtemp(pattern.data());
  // All users may read the folder, because the child runs as another user.
  std::filesystem::permissions(folder, std::filesystem::perms(0755));
  std::filesystem::create_directories(folder / "manifests");
  std::filesystem::create_directories(folder / "libraries");
  const auto library = folder / "libraries" / "libvulkan_elsewhere.so";
  std::ofstream(library) << "a library";
  std::ofstream(folder / "manifests" / "elsewhere.json")
      << R"({"file_format_version":"1.0.0","ICD":{"api_version":"1.3.0",)"
      << R"("library_path":"../libraries/libvulkan_elsewhere.so"}})";
  Sandbox::Options elsewhere = options;
  elsewhere.driver = folder / "manifests" / "elsewhere.json";

  const auto refused = Sandbox::start(elsewhere).value()->wait_ready();

  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  EXPECT_THAT(refused.error().message,
              testing::HasSubstr("The sandbox may not read " + library.string() +
                                 ", a file of a Vulkan driver: name its folder in "
                                 "LD_LIBRARY_PATH"));

  // A file that may be read and is no library.
  std::filesystem::rename(library, folder / "manifests" / "libvulkan_elsewhere.so");
  std::ofstream(folder / "manifests" / "elsewhere.json")
      << R"({"file_format_version":"1.0.0","ICD":{"api_version":"1.3.0",)"
      << R"("library_path":"./libvulkan_elsewhere.so"}})";
  const auto broken = Sandbox::start(elsewhere).value()->wait_ready();
  ASSERT_FALSE(broken.has_value());
  EXPECT_THAT(broken.error().message, testing::Not(testing::HasSubstr("may not read")));
  std::filesystem::remove_all(folder);
}

TEST(Sandbox, SaysHowItsProcessEnded) {
  const auto sandbox = Sandbox::start(options).value();
  ASSERT_TRUE(sandbox->wait_ready().has_value());
  auto running =
      std::async(std::launch::async, [&] { return sandbox->run(task_of(job_of(endless), 60s)); });
  // Acts as a driver that aborts; sanitizers do not intercept SIGABRT.
  ::kill(sandbox->pid(), SIGABRT);

  const auto output = running.get();

  ASSERT_FALSE(output.has_value());
  EXPECT_EQ(output.error().code, ErrorCode::internal);
  EXPECT_THAT(output.error().message, testing::HasSubstr("signal 6"));
  EXPECT_FALSE(sandbox->run(task_of(job_of(count_up))).has_value());
}

TEST(Sandbox, IsEndedFromOutsideAsCancelled) {
  const auto sandbox = Sandbox::start(options).value();
  ASSERT_TRUE(sandbox->wait_ready().has_value());
  auto running =
      std::async(std::launch::async, [&] { return sandbox->run(task_of(job_of(endless), 60s)); });
  sandbox->kill();

  EXPECT_EQ(running.get().error().code, ErrorCode::cancelled);
}

TEST(Sandbox, RefusesATaskThatTakesTooMuchMemory) {
  Sandbox::Options small = options;
  small.memory_bytes = 64 << 20;
  const auto sandbox = Sandbox::start(small).value();

  const auto output = sandbox->run(task_of(job_of(count_up, 64 << 20)));

  ASSERT_FALSE(output.has_value());
  EXPECT_EQ(output.error().code, ErrorCode::resource_exhausted) << output.error().message;
  EXPECT_THAT(output.error().message, testing::HasSubstr("bytes"));
  EXPECT_TRUE(sandbox->run(task_of(job_of(count_up))).has_value());
}

TEST(Sandbox, LetsAShaderReachNothingOutsideItsBindings) {
  std::string wild(count_up);
  wild.insert(wild.find("y[id.x] ="), "y[id.x * 1000003u] = 7u; ");
  const auto sandbox = Sandbox::start(options).value();

  const auto output = sandbox->run(task_of(job_of(wild)));

  // The element that an index out of bounds refers to depends on the implementation, but it is
  // always inside the buffer.
  EXPECT_TRUE(output.has_value()) << output.error().message;
  EXPECT_TRUE(sandbox->alive());
}

// The abilities of a confined child, tried by a program that is confined in the same way.
TEST(Confinement, LeavesNothingButComputing) {
  std::string folder = "/tmp/weft-confinement-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const std::string secret = folder + "/secret";
  std::ofstream(secret) << "x";
  ::chmod(folder.c_str(), 0755);
  ::chmod(secret.c_str(),
          0644);  // Readable by every user, so that only Landlock forbids it.
  std::map<std::string, std::string> can;
  std::vector<std::string> missing;
  FILE* probe = ::popen((std::string(WEFT_SANDBOX_CHILD) + " probe " + secret).c_str(), "r");
  for (char line[512]; std::fgets(line, sizeof line, probe) != nullptr;) {
    const std::string text(line);
    const std::size_t colon = text.find(": ");
    const std::string answer = text.substr(colon + 2, text.size() - colon - 3);
    if (text.starts_with("missing")) missing.push_back(answer);
    can[text.substr(0, colon)] = answer;
  }
  ASSERT_EQ(::pclose(probe), 0);
  std::remove(secret.c_str());
  ::rmdir(folder.c_str());
  const bool landlock = std::ranges::none_of(
      missing, [](const std::string& note) { return note.contains("open other files"); });

  for (const char* never :
       {"make a socket", "make a local socket", "fork", "run a program", "signal the parent",
        "become root", "make a file", "write a library", "look at another process"}) {
    EXPECT_NE(can[never], "possible") << never;
    EXPECT_NE(can[never], "") << never;
  }
  // A build with the address sanitizer does not try to take more memory.
  EXPECT_NE(can["take more memory"], "possible");
  for (const char* always : {"start a thread", "open /dev/null", "read /proc/self/status"})
    EXPECT_EQ(can[always], "possible") << always;
  if (!landlock) GTEST_SKIP() << "This kernel has no Landlock.";
  for (const char* never : {"read a file", "read /etc/passwd"})
    EXPECT_EQ(can[never], "Permission denied") << never;
}

// Returns the result of each attempt (test_attacks.h) in a process that is confined by `mode`.
std::map<std::string, std::string> attack(const char* mode) {
  std::string folder = "/tmp/weft-attack-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) return {};
  std::map<std::string, std::string> came_of;
  FILE* child =
      ::popen((std::string(WEFT_SANDBOX_CHILD) + " attack " + folder + " " + mode).c_str(), "r");
  for (char line[512]; std::fgets(line, sizeof line, child) != nullptr;) {
    const std::string text(line);
    const std::size_t colon = text.find(": ");
    came_of[text.substr(0, colon)] = text.substr(colon + 2, text.size() - colon - 3);
  }
  ::pclose(child);
  std::filesystem::remove_all(folder);
  return came_of;
}

constexpr const char* refused = "Operation not permitted";

TEST(Confinement, RefusesEveryClassOfAttack) {
  const auto confined = attack("confined");

  EXPECT_EQ(confined.size(), 46U);
  for (const auto& [name, result] : confined) EXPECT_EQ(result, refused) << name;
}

// The effect of the filter alone: with only the filter every attempt is refused; without it, every
// attempt that no other part of the machine forbids reaches the kernel.
TEST(Confinement, IsTheSystemCallFilterWhereNothingElseForbids) {
  const auto filtered = attack("filtered");
  const auto unfiltered = attack("unfiltered");

  ASSERT_EQ(filtered.size(), unfiltered.size());
  for (const auto& [name, result] : filtered) EXPECT_EQ(result, refused) << name;
  // Even without the filter, these attempts need root or are often forbidden by a container around
  // the test.
  const std::set<std::string> elsewhere_too = {"mount",
                                               "unmount",
                                               "leave for another root",
                                               "make a namespace",
                                               "load a program into the kernel",
                                               "queue calls past the filter",
                                               "watch page faults",
                                               "read the keyring",
                                               "become root",
                                               "set the clock",
                                               "trace another process",
                                               "read another process's memory",
                                               "read another process's file table",
                                               "hold another process by a descriptor",
                                               "place another process's threads"};
  for (const auto& [name, result] : unfiltered) {
    if (!elsewhere_too.contains(name)) {
      EXPECT_NE(result, refused) << name;
    }
  }
  if (::geteuid() != 0) GTEST_SKIP() << "The other attempts need root to be possible at all.";
  std::size_t forbidden = 0;
  for (const auto& [name, result] : unfiltered) forbidden += result == refused ? 1 : 0;
  std::printf("  %zu of %zu attempts are possible without the filter\n",
              unfiltered.size() - forbidden, unfiltered.size());
}

TEST(Confinement, LetsADriverWorkAndNamesEachCallThatItIsRefused) {
  std::string said;
  FILE* child = ::popen(WEFT_SANDBOX_CHILD " device", "r");
  for (char line[512]; std::fgets(line, sizeof line, child) != nullptr;) said += line;

  EXPECT_EQ(::pclose(child), 0) << said;
  EXPECT_THAT(said, testing::HasSubstr("\nrefused: socket\n"));
  EXPECT_THAT(said, testing::HasSubstr("\nmeasured: "));
}

TEST(Confinement, NamesOnlySystemCallsThatExist) {
  for (const std::string_view call : allowed_calls())
    EXPECT_NE(::seccomp_syscall_resolve_name(std::string(call).c_str()), __NR_SCMP_ERROR) << call;
}

TEST(Sandbox, RefusesStrangersWorkWithoutARequiredPart) {
  Sandbox::Options incomplete = options;
  incomplete.arguments = {"unfiltered"};
  const auto strict = Sandbox::start(incomplete).value();

  const auto output = strict->run(task_of(job_of(count_up)));

  ASSERT_FALSE(output.has_value());
  EXPECT_EQ(output.error(),
            (Error{ErrorCode::permission_denied,
                   "This machine cannot confine strangers' work: it may make every system call: "
                   "that was asked for. --unsafe-sandbox runs it without that protection."}));
  EXPECT_FALSE(strict->alive());

  incomplete.unsafe = true;
  const auto unsafe = Sandbox::start(incomplete).value();
  EXPECT_THAT(unsafe->wait_ready().value(),
              testing::Contains("it may make every system call: that was asked for"));
  EXPECT_TRUE(unsafe->run(task_of(job_of(count_up))).has_value());
}

class Runner : public testing::Test {
 protected:
  Runner() : runner_(options, [](const std::function<void()>& work) { work(); }) {}
  std::future<Result<exec::Output>> run(TaskRun task) {
    auto promise = std::make_shared<std::promise<Result<exec::Output>>>();
    runner_.run(std::move(task),
                [promise](Result<exec::Output> output) { promise->set_value(std::move(output)); });
    return promise->get_future();
  }
  SandboxRunner runner_;
};

TEST_F(Runner, GoesOnWithAnotherChildAfterEachThatWasEnded) {
  ASSERT_TRUE(runner_.describe().has_value());
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(run(task_of(job_of(endless), 300ms)).get().error().code,
              ErrorCode::deadline_exceeded);
    const auto output = run(task_of(job_of(count_up))).get();
    ASSERT_TRUE(output.has_value()) << output.error().message;
    EXPECT_EQ(output->outputs[0], expected());
  }
}

TEST_F(Runner, CancelsWhatRunsAndGoesOn) {
  ASSERT_TRUE(runner_.describe().has_value());
  auto running = run(task_of(job_of(endless), 60s));
  runner_.cancel();
  EXPECT_EQ(running.get().error().code, ErrorCode::cancelled);
  EXPECT_TRUE(run(task_of(job_of(count_up))).get().has_value());
}

// The children that ran the clients' tasks, in order, and the maximum number of processes.
struct Ran {
  std::vector<pid_t> by;
  std::size_t processes_max = 0;
};
Ran ran(const std::vector<std::string>& clients, const SandboxRunner::Bounds& bounds) {
  SandboxRunner runner(options, [](const std::function<void()>& work) { work(); }, bounds);
  EXPECT_TRUE(runner.describe().has_value());
  Ran out;
  for (const std::string& client : clients) {
    TaskRun task = task_of(job_of(count_up));
    task.client = client;
    std::promise<Result<exec::Output>> done;
    runner.run(std::move(task),
               [&](Result<exec::Output> output) { done.set_value(std::move(output)); });
    const auto output = done.get_future().get();
    EXPECT_TRUE(output.has_value()) << output.error().message;
    const auto processes = runner.processes();
    out.by.push_back(processes.of_clients.back());
    out.processes_max =
        std::max(out.processes_max, processes.of_clients.size() + (processes.spare ? 1 : 0));
  }
  return out;
}

// If all clients shared one child, data that a client's shader leaves in the process would reach
// the next client.
TEST(Runners, GiveEachClientAChildOfItsOwn) {
  const Ran apart = ran({"a", "b", "a"}, {});
  EXPECT_NE(apart.by[0], apart.by[1]);
  EXPECT_EQ(apart.by[0], apart.by[2]);

  const Ran together = ran({"a", "b"}, {.child_per_client = false});
  EXPECT_EQ(together.by[0], together.by[1]) << "the attack";
}

TEST(Runners, EndTheChildThatWasUsedLeastRecently) {
  const Ran few = ran({"a", "b", "a", "c", "a", "b"}, {.children_max = 3});

  EXPECT_EQ(few.processes_max, 3U);
  EXPECT_EQ(few.by[4], few.by[0]) << "used between";
  EXPECT_NE(few.by[5], few.by[1]) << "gave way to c";
}

}  // namespace
}  // namespace weft::worker
