// Data folders of all earlier versions still work: the job ends, the API key works, the model is
// listed, the suspension and the weight hold, and the ledger sums to zero. Each folder was made by
// the program of its version (tests/data/folders/make), killed in the middle of a job.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "apps/coordinator/test_folder.h"
#include "apps/coordinator/test_network.h"
#include "apps/coordinator/test_process.h"
#include "common/base/format.h"
#include "common/crypto/wallet.h"
#include "decisions/jobs/stakes.h"
#include "platform/store/sqlite/schema.h"
#include "platform/store/sqlite/sqlite_store.h"

namespace weft::coordinator {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr std::uint32_t tasks = 4;
constexpr std::uint32_t kept_task =
    2;  // The task with a checkpoint; it and later tasks are not answered.

// The manifest of a job y[i] = i whose shader the coordinator's checker accepts.
std::string folder_manifest(std::uint32_t count, std::uint32_t replicas) {
  constexpr std::string_view shader =
      "struct Weft { origin: vec3u, extent: vec3u }\\n"
      "@group(0) @binding(0) var<storage, read_write> y: array<u32>;\\n"
      "@group(1) @binding(0) var<uniform> weft: Weft;\\n"
      "@compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3u) "
      "{ y[id.x] = weft.origin.x + id.x; }";
  std::string text = jobs::count_manifest(count, replicas);
  const std::string_view empty = "fn main() {}";
  return text.replace(text.find(empty), empty.size(), shader);
}

std::string file_text(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}
// The first text value of `key` in a document without white space.
std::string text_in(std::string_view document, std::string_view key) {
  const std::string name = weft::format("\"{}\":\"", key);
  const auto at = document.find(name);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = document.substr(at + name.size());
  return std::string(rest.substr(0, rest.find('"')));
}
std::int64_t number_in(std::string_view document, std::string_view key) {
  const std::string name = weft::format("\"{}\":", key);
  const auto at = document.find(name);
  return at == std::string_view::npos ? -1 : std::atoll(document.data() + at + name.size());
}

class Filler : private TestClient {
 public:
  Filler(const char* url, fs::path folder)
      : TestClient(crypto::load_or_create_wallet(folder / "client.json").value()),
        url_(url),
        folder_(std::move(folder)) {
    connect(url_);
    wait_until_ready();
  }

  // Gets a worker convicted, and so suspended.
  bool suspend() {
    const auto wallet = crypto::load_or_create_wallet(folder_ / "cheat.json").value();
    const PublicKey cheat = wallet.public_key();
    std::vector<std::unique_ptr<ScriptedWorker>> workers;
    for (std::uint32_t i = 0; i < 4; ++i)
      workers.push_back(std::make_unique<ScriptedWorker>(url_, jobs::Behaviour{}, i));
    workers.push_back(
        std::make_unique<ScriptedWorker>(url_, jobs::Behaviour{.wrong_byte = true}, 9,
                                         crypto::load_wallet(folder_ / "cheat.json").value()));
    if (!until([&] {
          return std::ranges::all_of(workers, [](auto& each) { return each->joined(); });
        }))
      return false;
    (void)finished(submitted(folder_manifest(16, 3), 1));
    const auto until = number_in(
        ask(signed_by(wallet, net::get("/v1/stakes/" + cheat.text()))).body, "suspended_until");
    std::ofstream(folder_ / "suspension.json")
        << weft::format("{{\"cheat\":\"{}\",\"suspended_until\":{}}}\n", cheat.text(), until);
    return until > 0;
  }
  // Starts a job and stores a checkpoint of one of its tasks.
  bool run() {
    const std::string job = submitted(folder_manifest(tasks, 1), 2);
    ScriptedWorker worker(url_, {.answers_below = kept_task}, 7);
    const TaskId kept{.job = JobId::parse(job).value(), .index = kept_task};
    const Hash state = crypto::sha256(ScriptedWorker::state_of(kept));
    std::ofstream(folder_ / "job.json")
        << weft::format("{{\"job\":\"{}\",\"state\":\"{}\"}}\n", job, state.text());
    return until([&] {
      worker.keep_state(kept);
      return view<api::Job>("/v1/jobs/" + job).accepted == kept_task && metric("checkpoints") > 0;
    });
  }

 private:
  std::int64_t metric(std::string_view name) {
    const std::string text = ask(net::get("/metrics")).body;
    const std::string line = weft::format("\nweft_{}_total ", name);
    const auto at = text.find(line);
    return at == std::string::npos ? -1 : std::atoll(text.c_str() + at + line.size());
  }
  template <class Test>
  bool until(Test test) {
    const Instant give_up = now() + 60s;
    while (!test()) {
      if (now() > give_up) return false;
      std::this_thread::sleep_for(20ms);
    }
    return true;
  }

  const std::string url_;
  const fs::path folder_;
};

std::vector<std::string> kept_folders() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(fs::path(WEFT_SOURCE_DIR) / "tests/data/folders"))
    if (entry.path().extension() == ".xz") names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

class KeptFolder : public ProcessTest, public testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "weft-kept-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    const fs::path packed = fs::path(WEFT_SOURCE_DIR) / "tests/data/folders" / GetParam();
    ASSERT_LE(fs::file_size(packed), 500'000U) << "kept folders stay small";
    const std::string unpack =
        weft::format("cd '{}' && cmake -E tar xJf '{}'", folder_.string(), packed.string());
    ASSERT_EQ(std::system(unpack.c_str()), 0) << unpack;
    restore_model();
  }
  // Adds the model's blob from tests/data/gguf. The blob is not packed into the folders, because
  // all folders have the same blob. A blob of these versions is a byte for its encoding (1:
  // unchanged) and the content.
  void restore_model() {
    const std::string model =
        file_text(fs::path(WEFT_SOURCE_DIR) / "tests/data/gguf/stories260K-q8_0.gguf");
    const std::string name = crypto::sha256(as_bytes(model)).text();
    const fs::path folder = folder_ / "data" / "blobs" / name.substr(0, 2);
    fs::create_directories(folder);
    std::ofstream(folder / name.substr(2), std::ios::binary) << '\1' << model;
  }
  void start() {
    process_ = std::make_unique<Process>(free_port(), folder_ / "data");
    connect(process_->url());
    wait_until_ready();
    operators_ = crypto::load_wallet(folder_ / "data" / "coordinator.json").value();
  }
  [[nodiscard]] std::string said(const char* file, std::string_view key) const {
    return text_in(file_text(folder_ / file), key);
  }
  // Checks the facts that hold in every version, before and after the job's end.
  void expect_records() {
    const std::string secret = said("key.json", "secret");
    ASSERT_FALSE(secret.empty());
    const auto models = ask(net::with_bearer(net::get("/v1/models"), secret));
    EXPECT_EQ(models.status, 200) << models.body;
    EXPECT_THAT(models.body, HasSubstr("\"id\":\"stories\""));
    EXPECT_EQ(ask(net::with_bearer(net::get("/v1/models"), secret + "x")).status, 401);
    const auto owner = crypto::load_wallet(folder_ / "client.json").value().public_key().text();
    const auto clients = view<api::Clients>("/v1/clients").clients;
    const auto client = std::ranges::find(clients, owner, &api::Client::client);
    ASSERT_NE(client, clients.end());
    EXPECT_EQ(client->weight, 2.5);
    const auto ledger = view<api::Ledger>("/v1/ledger");
    EXPECT_EQ(ledger.sum, 0);
    EXPECT_FALSE(ledger.balances.empty());
    // Checks that all credits are granted, because all credits in the kept folders came from
    // grants.
    for (const auto& balance : ledger.balances) {
      const auto account = ledger::Account::parse(balance.account);
      ASSERT_TRUE(account.has_value()) << balance.account;
      EXPECT_TRUE(account->kind == ledger::Account::Kind::mint || is_granted(account->kind))
          << balance.account;
    }
  }
};

TEST_P(KeptFolder, GoesOnWhereItsProgramWasKilled) {
  // Levels are not counted, because the worker with the checkpoint does not come back and its level
  // is unknown.
  const CountingHeads heads;
  start();
  const std::string job = said("job.json", "job");
  expect_records();
  const auto before = view<api::Job>("/v1/jobs/" + job);
  EXPECT_EQ(before.state, "running");
  EXPECT_EQ(before.accepted, kept_task);

  ScriptedWorker honest(process_->url(), {}, 2);
  expect_settled(job, tasks);

  EXPECT_THAT(honest.resumed(), Contains(Hash::parse(said("job.json", "state")).value()));
  expect_records();

  // A second start reads the folder that the first start has converted to the current format.
  process_->kill();
  process_->start();
  wait_until_ready();
  expect_records();
  EXPECT_EQ(view<api::Job>("/v1/jobs/" + job).state, "done");
  EXPECT_EQ(process_->stop(), 0);
  EXPECT_TRUE(store::sqlite::open(folder_ / "data" / "weft.db").value()->audit().has_value());
}

// Runs in simulated time, because a suspension ends after some days.
TEST_P(KeptFolder, HoldsItsSuspension) {
  const auto cheat = crypto::load_wallet(folder_ / "cheat.json").value();
  const auto expected = number_in(file_text(folder_ / "suspension.json"), "suspended_until");
  ASSERT_GT(expected, 0);
  TestNetwork network([&] { return store::sqlite::open(folder_ / "data" / "weft.db").value(); });
  network.restart_machine([&] {
    fs::copy(folder_ / "data" / "blobs", network.folder(),
             fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  });
  const JobId job = JobId::parse(said("job.json", "job")).value();
  const auto suspended_until = [&] {
    std::int64_t until = 0;
    network.post([&](jobs::Core& core, jobs::Moment now) {
      core.stakes().show(cheat.public_key(), now, [&](const Result<jobs::StakeView>& view) {
        until = view.value().suspended_until;
      });
    });
    network.run();
    return until;
  };
  EXPECT_EQ(suspended_until(), expected);

  // The suspended worker joins first and is idle, but it must get no lease.
  const auto& suspended = network.join(cheat, {.wrong_byte = true});
  const auto honest = crypto::KeyPair::generate().value();
  const auto& other = network.join(honest);

  EXPECT_EQ(network.finish(job).state, store::JobState::done);
  EXPECT_TRUE(suspended.welcomed);
  EXPECT_TRUE(suspended.leases.empty());
  EXPECT_FALSE(other.leases.empty());
  network.restart();
  EXPECT_EQ(suspended_until(), expected);
}

INSTANTIATE_TEST_SUITE_P(Folders, KeptFolder, testing::ValuesIn(kept_folders()),
                         [](const auto& row) {
                           std::string name = row.param.substr(0, row.param.find('.'));
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

// A new version of the tables needs a folder of its own, for tests of the versions after it.
TEST(KeptFolders, AreThereForEveryVersionSinceTheOldest) {
  for (int version = 3; version <= store::sqlite::schema_version(); ++version)
    EXPECT_THAT(kept_folders(), Contains(weft::format("schema-{}.tar.xz", version)));
}

}  // namespace

int fill_folder(std::string_view part, const char* url, const char* folder) {
  set_log_level(LogLevel::error);
  Filler filler(url, folder);
  return (part == "suspension" ? filler.suspend() : filler.run()) ? 0 : 1;
}

}  // namespace weft::coordinator
