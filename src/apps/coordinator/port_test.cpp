// Tests of what a coordinator's open port gives to strangers before they are known. Each test is an
// attack that once succeeded, and shows that it still succeeds without its defence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <future>
#include <set>
#include <thread>
#include <unistd.h>

#include <netinet/in.h>
#include <sys/socket.h>

#include "apps/coordinator/disk_reserve.h"
#include "apps/coordinator/http/model_catalog.h"
#include "apps/coordinator/http/model_service.h"
#include "apps/coordinator/http/shared_views.h"
#include "apps/coordinator/http/watch_feed.h"
#include "apps/coordinator/ingest/retries.h"
#include "apps/coordinator/private_folder.h"
#include "apps/coordinator/test_network.h"
#include "apps/coordinator/test_process.h"
#include "apps/coordinator/work_pools.h"
#include "decisions/inference/test_model_card.h"
#include "decisions/jobs/job_submissions.h"
#include "decisions/jobs/owner_requests.h"
#include "platform/store/memory/memory_store.h"

namespace weft::coordinator {
namespace {

fs::perms mode_of(const fs::path& path) { return fs::status(path).permissions() & fs::perms::mask; }

TEST(PrivateFolder, IsRepairedWithAllThatIsInIt) {
  std::string pattern = (fs::temp_directory_path() / "weft-private-XXXXXX").string();
  const fs::path folder = mkdtemp(pattern.data());
  fs::create_directories(folder / "blobs" / "ab");
  fs::create_directories(folder / "tls");
  for (const char* name : {"weft.db", "blobs/ab/cd", "tls/cert.pem", "tls/key.pem"}) {
    std::ofstream(folder / name) << "x";
    fs::permissions(folder / name, fs::perms(0644));
  }
  for (const char* name : {".", "blobs", "blobs/ab", "tls"})
    fs::permissions(folder / name, fs::perms(0755));

  ASSERT_TRUE(make_private(folder).has_value());

  for (const char* name : {".", "blobs", "blobs/ab", "tls"})
    EXPECT_EQ(mode_of(folder / name), fs::perms(0700)) << name;
  for (const char* name : {"weft.db", "blobs/ab/cd", "tls/key.pem"})
    EXPECT_EQ(mode_of(folder / name), fs::perms(0600)) << name;
  EXPECT_EQ(mode_of(folder / "tls/cert.pem"), fs::perms(0644)) << "it is public";
  fs::permissions(folder / "weft.db", fs::perms(0644));
  ASSERT_TRUE(make_private(folder).has_value());
  EXPECT_EQ(mode_of(folder / "weft.db"), fs::perms(0600)) << "and again";
  fs::remove_all(folder);
}

TEST(DiskReserve, IsGivenUpOnAFullDiskAndMadeAgain) {
  std::string pattern = (fs::temp_directory_path() / "weft-reserve-XXXXXX").string();
  const fs::path folder = mkdtemp(pattern.data());
  DiskReserve reserve(folder / "reserve", 1 << 20);
  ASSERT_TRUE(reserve.is_there());
  EXPECT_EQ(fs::file_size(folder / "reserve"), std::uintmax_t{1} << 20);

  reserve.disk_full(true);
  EXPECT_FALSE(fs::exists(folder / "reserve"));
  reserve.disk_full(false);
  EXPECT_TRUE(fs::exists(folder / "reserve"));
  fs::remove_all(folder);
}

using Port = ProcessTest;

TEST_F(Port, KeepsItsFolderFromOtherUsers) {
  EXPECT_EQ(mode_of(folder_), fs::perms(0700));
  fs::permissions(folder_ / "weft.db", fs::perms(0644));
  process_->stop();
  process_->start();
  wait_until_ready();

  EXPECT_EQ(mode_of(folder_ / "weft.db"), fs::perms(0600));

  process_->stop();
  fs::permissions(folder_ / "weft.db", fs::perms(0644));
  fs::permissions(folder_, fs::perms(0755));
  setenv("WEFT_TEST_OPEN_FOLDER", "1", 1);
  process_->start();
  unsetenv("WEFT_TEST_OPEN_FOLDER");
  wait_until_ready();
  EXPECT_EQ(mode_of(folder_), fs::perms(0755)) << "the attack";
  EXPECT_EQ(mode_of(folder_ / "weft.db"), fs::perms(0644));
}

// The attack: a worker without a job fills the blob store permanently.
TEST_F(Port, AWorkerStoresOnlyWhatItsLeasesLeadTo) {
  const auto status = [&] {
    ScriptedWorker stranger(process_->url(), {}, 7);
    while (!stranger.joined()) std::this_thread::sleep_for(5ms);
    return stranger.put_without_a_lease(ByteVector(100'000, 7));
  };
  EXPECT_EQ(status(), 403);

  process_->stop();
  setenv("WEFT_TEST_ANY_UPLOAD", "1", 1);
  process_->start();
  unsetenv("WEFT_TEST_ANY_UPLOAD");
  wait_until_ready();
  EXPECT_EQ(status(), 201) << "the attack";
}

// The attack: a recorded upload of a part stores other bytes, or the same bytes at another place.
TEST_F(Port, APartOfAnUploadIsSignedWithItsBytesAndItsPlace) {
  const std::string bytes(3000, 'p');
  const Hash hash = crypto::sha256(as_bytes(bytes));
  const auto seen = [&](bool by_its_bytes) {
    net::Request part = net::put("/v1/blobs/" + hash.text(), bytes.substr(0, 1000));
    part.headers["content-range"] = "bytes 0-999/3000";
    return by_its_bytes
               ? signed_part(wallet_, std::move(part), {.blob = hash, .first = 0, .total = 3000})
               : signed_blob(wallet_, std::move(part), hash);
  };
  const auto have = [&] {
    return ask(signed_by(wallet_, net::get("/v1/blobs/" + hash.text() + "/upload/" +
                                           wallet_.public_key().text())))
        .body;
  };
  auto other_bytes = seen(true), other_place = seen(true), other_hash = seen(true);
  other_bytes.body = std::string(1000, 'x');
  other_place.headers["content-range"] = "bytes 0-999/1000";
  other_hash.body = std::string(1000, 'x');
  other_hash.headers["weft-part"] = crypto::sha256(as_bytes(other_hash.body)).text();

  EXPECT_EQ(ask(other_bytes).status, 400);
  EXPECT_EQ(have(), R"({"bytes":0})") << "they are not kept";
  EXPECT_EQ(ask(other_place).status, 401);
  EXPECT_EQ(ask(other_hash).status, 401);
  EXPECT_EQ(ask(seen(false)).status, 401);
  EXPECT_EQ(ask(seen(true)).status, 202);
  EXPECT_EQ(have(), R"({"bytes":1000})");

  process_->stop();
  setenv("WEFT_TEST_ANY_PART", "1", 1);
  process_->start();
  unsetenv("WEFT_TEST_ANY_PART");
  wait_until_ready();
  auto attack = seen(false);
  attack.body = std::string(1000, 'x');
  attack.headers["content-range"] = "bytes 1000-1999/3000";
  EXPECT_EQ(ask(attack).status, 202) << "the attack";
}

// An owner's data are read in parts of bounded size.
TEST_F(Port, TheDataOfAnOwnerComeInBoundedParts) {
  for (std::uint64_t nonce = 1; nonce <= 3; ++nonce)
    ASSERT_EQ(submit(jobs::count_manifest(2, 1), nonce).status, 202);
  const auto begin_with = [&](const char* bytes) {
    process_->stop();
    setenv("WEFT_TEST_DATA_BYTES", bytes, 1);
    process_->start();
    unsetenv("WEFT_TEST_DATA_BYTES");
    wait_until_ready();
  };
  const auto first_part = [&] { return ask(signed_by(wallet_, net::get("/v1/owner/data"))).body; };
  begin_with("1");
  EXPECT_THAT(first_part(), testing::HasSubstr("{\"next\":\"jobs-0-0\"}"));
  begin_with("0");
  EXPECT_THAT(first_part(), testing::HasSubstr("{\"end\":true}")) << "the attack";
}

// The attack: a worker reads data of any client if it knows their hash.
TEST_F(Port, AWorkerReadsOnlyWhatItsLeasesLeadTo) {
  const std::string secret(1000, 's');
  const Hash hash = crypto::sha256(as_bytes(secret));
  const auto put = [&] {
    return ask(signed_blob(wallet_, net::put("/v1/blobs/" + hash.text(), secret), hash)).status;
  };
  ASSERT_EQ(put(), 201);
  const auto answered = submit(jobs::count_manifest(1, 1), 1);
  ASSERT_EQ(answered.status, 202) << answered.body;
  {
    ScriptedWorker worker(process_->url(), {.answers_below = 0}, 7);
    while (worker.manifests().empty()) std::this_thread::sleep_for(5ms);
    EXPECT_EQ(worker.get_blob(worker.manifests().front()), 200);
    EXPECT_EQ(worker.get_blob(hash), 403);
    ScriptedWorker without(process_->url(), {}, 8);
    while (!without.joined()) std::this_thread::sleep_for(5ms);
    EXPECT_EQ(without.get_blob(worker.manifests().front()), 403) << "another worker's lease";
  }

  process_->stop();
  setenv("WEFT_TEST_ANY_READ", "1", 1);
  process_->start();
  unsetenv("WEFT_TEST_ANY_READ");
  wait_until_ready();
  ScriptedWorker stranger(process_->url(), {}, 9);
  while (!stranger.joined()) std::this_thread::sleep_for(5ms);
  EXPECT_EQ(stranger.get_blob(hash), 200) << "the attack";
}

// The attack: one owner of credits fills the store, so that no other owner can submit a job with
// data.
TEST_F(Port, AnOwnerFillsNoMoreThanItsShareOfTheStore) {
  const auto begin_with_share = [&](const char* share) {
    process_->stop();
    setenv("WEFT_TEST_BLOBS_BYTES_MAX", "400000", 1);
    if (share != nullptr) setenv("WEFT_TEST_UPLOAD_SHARE", share, 1);
    process_->start();
    unsetenv("WEFT_TEST_BLOBS_BYTES_MAX");
    unsetenv("WEFT_TEST_UPLOAD_SHARE");
    wait_until_ready();
  };
  const auto put = [&](const crypto::KeyPair& wallet, std::uint8_t filling) {
    const std::string body(60'000, static_cast<char>(filling));
    const Hash hash = crypto::sha256(as_bytes(body));
    return ask(signed_blob(wallet, net::put("/v1/blobs/" + hash.text(), body), hash)).status;
  };
  begin_with_share(nullptr);
  ASSERT_EQ(put(wallet_, 1), 201);
  EXPECT_EQ(put(wallet_, 2), 413);
  EXPECT_EQ(put(wallet_, 1), 200) << "what is there already is no upload";
  EXPECT_EQ(put(*operators_, 3), 201);
  EXPECT_EQ(put(*operators_, 4), 201) << "the operator's room is all of it";

  begin_with_share("100");
  EXPECT_EQ(put(wallet_, 5), 201);
  EXPECT_EQ(put(wallet_, 6), 201);
  EXPECT_EQ(put(wallet_, 7), 201) << "the attack";
  EXPECT_EQ(put(*operators_, 8), 413) << "the store is full";
}

// The attack: uploads fill the store, and a job whose results are all accepted fails because they
// cannot be joined.
class RoomOfJobs : public ProcessTest {
 protected:
  struct With {
    bool aside = true;
    bool for_known = true;
    bool by_network = true;
    const char* bytes = "680000";
  };
  // Each job of two tasks reserves 160 kB for its results, 80 kB for wrong results of one network,
  // 160 kB for results of known workers, and 160 kB for joining.
  void begin(const With& with) {
    process_->stop();
    setenv("WEFT_TEST_BLOBS_BYTES_MAX", with.bytes, 1);
    if (!with.aside) setenv("WEFT_TEST_NO_ROOM_ASIDE", "1", 1);
    if (!with.for_known) setenv("WEFT_TEST_NO_ROOM_FOR_KNOWN", "1", 1);
    if (!with.by_network) setenv("WEFT_TEST_NETWORK_ROOM", "1", 1);
    process_->start();
    wait_until_ready();
  }
  void TearDown() override {
    unsetenv("WEFT_TEST_BLOBS_BYTES_MAX");
    unsetenv("WEFT_TEST_NO_ROOM_ASIDE");
    unsetenv("WEFT_TEST_NO_ROOM_FOR_KNOWN");
    unsetenv("WEFT_TEST_NETWORK_ROOM");
    ProcessTest::TearDown();
  }
  // The number of accepted uploads among eight blobs of 50 kB.
  int uploaded() {
    int taken = 0;
    for (std::uint8_t filling = 1; filling <= 8; ++filling) {
      const std::string body(50'000, static_cast<char>(filling));
      const Hash hash = crypto::sha256(as_bytes(body));
      taken +=
          ask(signed_blob(*operators_, net::put("/v1/blobs/" + hash.text(), body), hash)).status ==
          201;
    }
    return taken;
  }
  net::Response submit_once(std::uint64_t nonce) { return submit_once(nonce, manifest); }
  net::Response submit_once(std::uint64_t nonce, const std::string& text) {
    return client_->send_now(signed_by(wallet_, net::post("/v1/jobs", text), nonce)).value();
  }
  std::unique_ptr<ScriptedWorker> stranger(jobs::Behaviour behaviour, std::uint32_t slots = 4) {
    return std::make_unique<ScriptedWorker>(process_->url(), std::move(behaviour), 7,
                                            crypto::KeyPair::generate().value(), slots, false);
  }
  std::string state_within(const std::string& id, Duration patience) {
    std::string state = "running";
    for (const Instant give_up = now() + patience; state == "running" && now() < give_up;) {
      std::this_thread::sleep_for(20ms);
      state = view<api::Job>("/v1/jobs/" + id).state;
    }
    return state;
  }

  // The state of a job after strangers have delivered wrong results and a known worker has tried
  // for a while.
  std::string state_after_wrong_results(const With& with) {
    begin(with);
    const auto job = submit_once(1);
    EXPECT_EQ(job.status, 202) << job.body;
    const std::string id = api::from_json<api::Submitted>(job.body)->id;
    while (uploaded() > 0) {
    }
    std::atomic<std::uint32_t> made = 0;
    const auto garbage = [&](const protocol::LeasedTask& task) {
      ByteVector bytes;
      const std::uint32_t mark = ++made << 20;
      for (std::uint32_t i = 0; i < task.count; ++i) append_le(bytes, i ^ mark);
      return bytes;
    };
    std::vector<std::unique_ptr<ScriptedWorker>> strangers;
    for (const Instant enough = now() + 60s; made < 2 && now() < enough;) {
      strangers.push_back(stranger({.compute = garbage}));
      for (const Instant next = now() + 1s; made < 2 && now() < next;)
        std::this_thread::sleep_for(5ms);
    }
    EXPECT_GE(made, 2U) << "both tasks";
    ScriptedWorker known(process_->url(), {}, 8);
    return state_within(id, with.for_known || with.by_network ? 60s : 5s);
  }
  // The number of blobs, out of 20 of 90 kB, that a stranger with a lease can store beside the
  // results of its task.
  int stored_beside(bool by_network) {
    begin({.by_network = by_network, .bytes = "2000000"});
    const auto job = submit_once(1);
    EXPECT_EQ(job.status, 202) << job.body;
    const auto its = stranger({.answers_below = 0});
    for (const Instant give_up = now() + 60s; its->leased() == 0 && now() < give_up;)
      std::this_thread::sleep_for(5ms);
    int stored = 0;
    for (std::uint8_t filling = 1; filling <= 20; ++filling)
      stored += its->put_without_a_lease(ByteVector(90'000, filling)) == 201;
    // Workers may not upload parts, because joining parts would exceed the bounds.
    EXPECT_EQ(its->put_without_a_lease(ByteVector(10, 1), "bytes 0-9/20"), 400);
    return stored;
  }

  const std::string manifest =
      R"({"weft":1,"kind":"wgsl","name":"count","shader":{"inline":"fn main() {}"},"entry":"main",
      "bindings":[{"binding":0,"role":"output","type":"u32","shape":[40000],"split_dim":0}],
      "dispatch":[40000,1,1],"split":{"axis":"x","tasks":2},
      "verify":{"compare":"exact","replicas":1},"budget":100})";
};

TEST_F(RoomOfJobs, UploadsTakeNothingOfWhatResultsNeed) {
  begin({});
  const auto job = submit_once(1);
  ASSERT_EQ(job.status, 202) << job.body;

  EXPECT_EQ(uploaded(), 2) << "of what is left";

  process_->kill();
  process_->start();
  wait_until_ready();
  EXPECT_EQ(uploaded(), 0) << "nor after a restart";
  ScriptedWorker worker(process_->url(), {}, 7);
  const auto done = finished(api::from_json<api::Submitted>(job.body)->id);
  EXPECT_EQ(done.state, "done") << done.reason;
}

TEST_F(RoomOfJobs, WithoutItUploadsEndAJobWhoseResultsAreAllAccepted) {
  begin({.aside = false});
  const auto job = submit_once(1);
  ASSERT_EQ(job.status, 202) << job.body;

  EXPECT_EQ(uploaded(), 8) << "the attack";

  ScriptedWorker worker(process_->url(), {}, 7);
  const auto ended = finished(api::from_json<api::Submitted>(job.body)->id);
  EXPECT_EQ(ended.state, "failed");
  EXPECT_EQ(ended.accepted, 2U);
  EXPECT_THAT(ended.reason, testing::HasSubstr("The blobs would take more than 680000 bytes"));
}

// The attack: strangers deliver wrong results until the room of their job is used up.
TEST_F(RoomOfJobs, WrongResultsOfStrangersKeepNoKnownWorkersOut) {
  EXPECT_EQ(state_after_wrong_results({.by_network = false}), "done");
}

TEST_F(RoomOfJobs, WithoutRoomForThemKnownWorkersAreKeptOutByWrongResults) {
  EXPECT_NE(state_after_wrong_results({.for_known = false, .by_network = false}), "done")
      << "the attack";
}

// Results of strangers of one network use at most the network's share, so that correct results of
// other workers have room even without room reserved for known workers.
TEST_F(RoomOfJobs, WrongResultsOfOneNetworkLeaveOthersRoom) {
  EXPECT_EQ(state_after_wrong_results({.for_known = false}), "done");
}

// Accepted results do not count against a network's share: strangers of one network can do a whole
// job while the store is full.
TEST_F(RoomOfJobs, AcceptedResultsOfOneNetworkTakeNothingOfItsShare) {
  begin({});
  std::string text = manifest;
  text.replace(text.find("\"tasks\":2"), 9, "\"tasks\":8");
  const auto job = submit_once(1, text);
  ASSERT_EQ(job.status, 202) << job.body;
  while (uploaded() > 0) {
  }
  const auto one = stranger({}, 1), other = stranger({}, 1);

  EXPECT_EQ(state_within(api::from_json<api::Submitted>(job.body)->id, 60s), "done");
}

// The attack: a stranger with one lease fills the store's free room.
TEST_F(RoomOfJobs, StrangersOfOneNetworkFillAShareOfTheStore) {
  EXPECT_EQ(stored_beside(true), 5) << "a quarter of 2 MB";
  EXPECT_GT(stored_beside(false), 10) << "the attack";
}

TEST_F(RoomOfJobs, AJobWithoutRoomIsRefusedUntilOthersHaveEnded) {
  begin({});
  const auto first = submit_once(1);
  ASSERT_EQ(first.status, 202) << first.body;

  const auto second = submit_once(2);

  EXPECT_EQ(second.status, 503);
  EXPECT_THAT(second.body,
              testing::ContainsRegex("The job's results take 560000 bytes, and 11.... of the "
                                     "store's 680000 are left: try again when data of other jobs "
                                     "have gone, or have the operator raise --blobs-bytes-max."));
  EXPECT_EQ(submit_once(1).status, 202) << "what was taken is taken";
  const std::string id = api::from_json<api::Submitted>(first.body)->id;
  ASSERT_EQ(
      ask(signed_by(wallet_, net::Request{.method = "DELETE", .path = "/v1/jobs/" + id})).status,
      200);
  EXPECT_EQ(submit_once(3).status, 202) << "its end gave the room back";
}

// Uploads that no job names are removed; blobs that a job names stay.
TEST_F(Port, UploadsOfWhichNoJobIsMadeEnd) {
  process_->stop();
  setenv("WEFT_TEST_SWEEPS", "1", 1);
  setenv("WEFT_TEST_ANY_UPLOAD", "1", 1);
  process_->start();
  unsetenv("WEFT_TEST_SWEEPS");
  unsetenv("WEFT_TEST_ANY_UPLOAD");
  wait_until_ready();
  {
    ScriptedWorker worker(process_->url(), {}, 7);
    while (!worker.joined()) std::this_thread::sleep_for(5ms);
    ASSERT_EQ(worker.put_without_a_lease(ByteVector(100'000, 7)), 201);
  }
  const std::string hash = crypto::sha256(ByteVector(100'000, 7)).text();
  const fs::path file = folder_ / "blobs" / hash.substr(0, 2) / hash.substr(2);
  ASSERT_TRUE(fs::exists(file));
  const Instant give_up = now() + 60s;
  while (fs::exists(file) && now() < give_up) std::this_thread::sleep_for(20ms);
  EXPECT_FALSE(fs::exists(file));
}

// Sockets that strangers hold open without sending anything.
class Hoard {
 public:
  Hoard(std::uint16_t port, std::size_t count) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (std::size_t i = 0; i < count; ++i) {
      files_.push_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      EXPECT_EQ(
          ::connect(files_.back(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    }
  }
  Hoard(const Hoard&) = delete;
  ~Hoard() {
    for (const int file : files_) close(file);
  }
  // True if at most `most` of the sockets remain open.
  [[nodiscard]] bool is_down_to(std::size_t most) const {
    const Instant give_up = now() + 60s;
    const auto is_open = [](int file) {
      char byte = 0;
      return recv(file, &byte, 1, MSG_DONTWAIT | MSG_PEEK) < 0 && errno == EAGAIN;
    };
    while (now() < give_up) {
      if (std::cmp_less_equal(std::ranges::count_if(files_, is_open), most)) return true;
      std::this_thread::sleep_for(5ms);
    }
    return false;
  }

 private:
  std::vector<int> files_;
};

// The attack: strangers that hold all connections keep every worker out.
TEST_F(Port, HoardingStrangersKeepNoInvitedWorkerOut) {
  const auto joins = [&](const char* percent) {
    process_->stop();
    setenv("WEFT_TEST_CONNECTIONS", "20", 1);
    setenv("WEFT_TEST_KNOWN_PERCENT", percent, 1);
    process_->start();
    unsetenv("WEFT_TEST_CONNECTIONS");
    unsetenv("WEFT_TEST_KNOWN_PERCENT");
    wait_until_ready();
    const std::string url = process_->url();
    const Hoard hoard(static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1))), 60);
    EXPECT_TRUE(hoard.is_down_to(20));
    ScriptedWorker worker(url, {}, 1);
    const Instant give_up = now() + (std::string_view(percent) == "0" ? 2s : 60s);
    while (!worker.joined() && now() < give_up) std::this_thread::sleep_for(5ms);
    return worker.joined();
  };
  EXPECT_TRUE(joins("25"));
  EXPECT_FALSE(joins("0")) << "the attack";
}

TEST(KnownWorkers, AreThoseThatAreInvitedOrEstablished) {
  jobs::CoreSettings settings = TestNetwork::by_heads();
  settings.referee.reputation.half = 1e-9;
  settings.referee.reputation.probation = 1;
  TestNetwork network(settings);
  network.invitation = trust::Invitation::none;
  const auto a = crypto::KeyPair::generate().value();
  const auto b = crypto::KeyPair::generate().value();
  const auto c = crypto::KeyPair::generate().value();
  const auto client = crypto::KeyPair::generate().value();

  const TestWorker& early = network.join(a);
  EXPECT_FALSE(early.recognised);
  EXPECT_FALSE(network.join(b).recognised);
  const auto job = network.submit(client, jobs::count_manifest(60, 2), {1});
  ASSERT_TRUE(job.has_value()) << job.error().message;
  ASSERT_EQ(network.finish(JobId::parse(job->id).value()).state, store::JobState::done);

  EXPECT_TRUE(early.recognised) << "by its first verdict after that";
  EXPECT_TRUE(network.join(a).recognised) << "established";
  EXPECT_FALSE(network.join(c).recognised);
  network.invitation = trust::Invitation::worker;
  EXPECT_TRUE(network.join(c).recognised) << "invited";
}

TEST(KnownWorkers, HaveRoomThatNewcomersDoNotTake) {
  std::set<std::string> refusals;
  const auto welcomed = [&](double share) {
    jobs::CoreSettings settings;
    settings.workers_max = 8;
    settings.workers_known_share = share;
    TestNetwork network(settings);
    std::vector<std::unique_ptr<crypto::KeyPair>> keys;
    const auto join = [&](trust::Invitation invitation) {
      network.invitation = invitation;
      keys.push_back(std::make_unique<crypto::KeyPair>(crypto::KeyPair::generate().value()));
      const TestWorker& worker = network.join(*keys.back());
      for (const auto& error : worker.errors) refusals.insert(error.message);
      return worker.welcomed;
    };
    std::size_t newcomers = 0;
    for (int i = 0; i < 20; ++i) newcomers += join(trust::Invitation::none) ? 1 : 0;
    std::size_t invited = 0;
    for (int i = 0; i < 4; ++i) invited += join(trust::Invitation::worker) ? 1 : 0;
    return std::pair(newcomers, invited);
  };
  EXPECT_EQ(welcomed(0.25), (std::pair<std::size_t, std::size_t>(6, 2)));
  const std::set<std::string> sentences = {
      "6 new workers are connected already, and the other places are for invited and established "
      "ones (--workers-max raises the bound).",
      "8 workers are connected already (--workers-max raises the bound)."};
  EXPECT_EQ(refusals, sentences);
  EXPECT_EQ(welcomed(0), (std::pair<std::size_t, std::size_t>(8, 0))) << "the attack";
}

// Requests of a page at evil.example whose name resolves to 127.0.0.1, and of a page that posts a
// form.
TEST_F(Port, PagesOfOthersGetNothing) {
  net::Request rebound = net::get("/v1/ledger");
  rebound.headers["host"] = "evil.example:7300";
  net::Request form = net::post("/v1/chat/completions", R"({"model":"x","messages":[]})");
  form.headers["content-type"] = "text/plain";
  net::Request foreign = form;
  foreign.headers["content-type"] = "application/json";
  foreign.headers["origin"] = "http://evil.example";

  // Uses a new connection for each request, because a refusal closes its connection.
  const auto status = [&](const net::Request& request) {
    const auto answer = net::Client::create({.url = process_->url()}).value()->send_now(request);
    EXPECT_TRUE(answer.has_value()) << answer.error().message;
    return answer ? answer->status : 0;
  };
  EXPECT_EQ(status(rebound), 421);
  EXPECT_EQ(status(form), 415);
  EXPECT_EQ(status(foreign), 403);
}

// The attack: reading clients keep a job from ending.
TEST(WorkPools, ReadersKeepNoJoinWaiting) {
  const auto joined_while_clients_read = [](bool apart) {
    WorkPools pools({.joins_apart = apart, .queue_max = 8});
    std::promise<void> read;
    const std::shared_future<void> until = read.get_future().share();
    for (std::uint64_t client = 0; client < 100; ++client)
      (void)pools.readers().post(client, [until] { until.wait(); });
    std::atomic<bool> joined = false;
    const bool posted = pools.joins().post(1, [&] { joined = true; });
    const Instant give_up = now() + 20s;
    while (posted && !joined && now() < give_up) std::this_thread::sleep_for(1ms);
    const bool done = joined;
    read.set_value();
    return done;
  };
  EXPECT_TRUE(joined_while_clients_read(true));
  EXPECT_FALSE(joined_while_clients_read(false)) << "the attack";
}

TEST(SharedViews, OneSnapshotServesAllWhoAskMeanwhile) {
  std::atomic<int> made = 0;
  const auto flood = [&](Duration every) {
    made = 0;
    SharedViews views({.every = every});
    views.add("/v1/ledger", [&](const net::Respond& respond) {
      respond(net::text_reply(200, std::to_string(++made)));
    });
    views.start();
    std::vector<std::future<std::string>> answers;
    for (int i = 0; i < 1000; ++i) {
      auto answer = std::make_shared<std::promise<std::string>>();
      answers.push_back(answer->get_future());
      views.get("/v1/ledger", [answer](const net::Reply& reply) { answer->set_value(reply.body); });
    }
    for (auto& answer : answers) EXPECT_NE(answer.get(), "");
    return made.load();
  };
  // The first request gets a snapshot at once; all others share a second one.
  EXPECT_EQ(flood(std::chrono::hours(0) + 250ms), 2);
  EXPECT_EQ(flood({}), 1000) << "the attack: a copy of everything for each";
}

TEST(SharedViews, WhoAsksSeesNothingOlder) {
  std::atomic<int> value = 0;
  SharedViews views({.every = 50ms});
  views.add("view", [&](const net::Respond& respond) {
    respond(net::text_reply(200, std::to_string(value.load())));
  });
  views.start();
  for (int i = 1; i <= 5; ++i) {
    value = i;
    std::promise<std::string> answer;
    views.get("view", [&](const net::Reply& reply) { answer.set_value(reply.body); });
    EXPECT_EQ(answer.get_future().get(), std::to_string(i));
  }
}

TEST(SharedViews, RefuseMoreThanMayWait) {
  net::Respond pending;
  SharedViews views({.waiting_max = 2});
  views.add("view", [&](net::Respond respond) { pending = std::move(respond); });
  views.start();
  std::vector<int> statuses;
  const auto take = [&](const net::Reply& reply) { statuses.push_back(reply.status); };
  // One request has its snapshot being made, two wait for the next, and the fourth is refused.
  for (int i = 0; i < 4; ++i) views.get("view", take);

  EXPECT_EQ(statuses, std::vector{503});
  views.stop();
  EXPECT_EQ(statuses, (std::vector{503, 503, 503}));
}

class FakePeer final : public net::Peer {
 public:
  FakePeer(std::uint64_t id, std::string address) : id_(id), address_(std::move(address)) {}
  void send_text(std::string) override {}
  void send_binary(std::string) override {}
  void close(std::string) override { closed = true; }
  std::uint64_t id() const override { return id_; }
  const std::string& address() const override { return address_; }
  const std::string& host() const override { return address_; }
  bool closed = false;

 private:
  const std::uint64_t id_;
  const std::string address_;
};

TEST(Watchers, AreBoundedByAddress) {
  const auto watching = [](std::size_t per_address) {
    Loop loop;
    WatchFeed feed(loop, {.watchers_per_address = per_address});
    const auto route = feed.route();
    std::vector<std::shared_ptr<FakePeer>> peers;
    for (std::uint64_t i = 0; i < 300; ++i) {
      peers.push_back(
          // All addresses belong to one subscriber.
          std::make_shared<FakePeer>(i, weft::format("2001:db8::{:x}", i)));
      route.opened(peers.back());
    }
    return std::ranges::count_if(peers, [](const auto& peer) { return !peer->closed; });
  };
  EXPECT_EQ(watching(8), 8);
  EXPECT_EQ(watching(0), 256) << "the attack: no other client may watch";
}

TEST(Retries, AreMadeOnceALittleLater) {
  Retries retries(1ms);
  std::promise<void> done;
  std::atomic<int> runs = 0;
  retries.post([&] { ++runs; });
  retries.post([&] { done.set_value(); });

  done.get_future().wait();
  EXPECT_EQ(runs, 1);
}

std::size_t jobs_taken(TestNetwork& network, const crypto::KeyPair& client, std::size_t offered) {
  store::SubmitNonce nonce{};
  std::size_t taken = 0;
  for (std::size_t i = 0; i < offered; ++i) {
    nonce[0] = static_cast<std::uint8_t>(i + 1);
    taken += network.submit(client, jobs::count_manifest(1, 1), nonce) ? 1 : 0;
  }
  return taken;
}

// The attack: jobs of one client that no worker runs fill --jobs-max.
TEST(Quotas, OneClientDoesNotTakeTheRoomOfOthers) {
  const auto mallory = crypto::KeyPair::generate().value();
  const auto alice = crypto::KeyPair::generate().value();
  const auto taken = [&](std::size_t jobs, std::size_t tasks) {
    jobs::CoreSettings settings;
    settings.jobs_running_max = 10;
    settings.jobs_per_client_max = jobs;
    settings.tasks_per_client_max = tasks;
    TestNetwork network(settings);
    const std::size_t first = jobs_taken(network, mallory, 20);
    return std::pair(first, jobs_taken(network, alice, 1));
  };
  EXPECT_EQ(taken(4, 0), (std::pair<std::size_t, std::size_t>(4, 1)));
  EXPECT_EQ(taken(0, 3), (std::pair<std::size_t, std::size_t>(3, 1)));
  EXPECT_EQ(taken(0, 0), (std::pair<std::size_t, std::size_t>(10, 0))) << "the attack";
}

void add_device(TestNetwork& network, const crypto::KeyPair& owner, const crypto::KeyPair& wallet) {
  Result<jobs::OwnerView> added = fail(ErrorCode::unavailable, "No answer.");
  network.post([&](jobs::Core& core, jobs::Moment now) {
    core.owners().add_device(owner.public_key(), OwnerId::of_first(owner.public_key()),
                             {.key = wallet.public_key(),
                              .owner = {},
                              .role = store::DeviceRole::full,
                              .name = "second"},
                             now, [&](const Result<jobs::OwnerView>& view) { added = view; });
  });
  network.run();
  EXPECT_TRUE(added.has_value()) << added.error().message;
}

// The attack: a second device doubles its owner's quota of jobs if quotas count keys.
TEST(Quotas, DevicesOfOneOwnerShareTheirJobs) {
  const auto laptop = crypto::KeyPair::generate().value();
  const auto phone = crypto::KeyPair::generate().value();
  const auto taken = [&](bool one_owner) {
    jobs::CoreSettings settings;
    settings.jobs_per_client_max = 2;
    TestNetwork network(settings);
    const std::size_t first = jobs_taken(network, laptop, 3);
    if (one_owner) add_device(network, laptop, phone);
    return first + jobs_taken(network, phone, 3);
  };
  EXPECT_EQ(taken(true), 2U);
  EXPECT_EQ(taken(false), 4U) << "the attack";
}

TEST(Quotas, EndedJobsGiveTheirRoomBack) {
  jobs::CoreSettings settings;
  settings.jobs_per_client_max = 1;
  TestNetwork network(settings);
  const auto client = crypto::KeyPair::generate().value();
  const auto worker = crypto::KeyPair::generate().value();
  network.join(worker);
  store::SubmitNonce nonce{};
  for (std::uint8_t i = 1; i <= 3; ++i) {
    nonce[0] = i;
    const auto job = network.submit(client, jobs::count_manifest(2, 1), nonce);
    ASSERT_TRUE(job.has_value()) << job.error().message;
    EXPECT_EQ(network.finish(JobId::parse(job->id).value()).state, store::JobState::done);
  }
}

TEST(Quotas, WhatAWalletCannotPayIsKnownBeforeAnythingDearIsDone) {
  TestNetwork network;
  const auto client = crypto::KeyPair::generate().value();
  const auto may = [&](MicroCredits budget) {
    Result<bool> answer = fail(ErrorCode::internal, "No answer.");
    network.post([&](jobs::Core& core, jobs::Moment) {
      core.submissions().may_submit({.client = client.public_key(), .tasks = 1, .budget = budget},
                                    [&](const Result<bool>& result) { answer = result; });
    });
    network.run();
    return answer ? ErrorCode::internal : answer.error().code;
  };
  EXPECT_EQ(may(TestNetwork::grant), ErrorCode::internal) << "it may";
  EXPECT_EQ(may(TestNetwork::grant + 1), ErrorCode::insufficient_funds);
}

class QuotaHeadersTest : public ProcessTest {};

// Replies to reads and to actions have the headers. They tell nothing about other owners, and
// unsigned requests get none.
TEST_F(QuotaHeadersTest, SayWhatAnOwnerMayStillTake) {
  const auto stranger = crypto::KeyPair::generate().value();
  const auto left = [&](const net::Response& answer) {
    const auto header = answer.headers.find("ratelimit");
    return header == answer.headers.end() ? std::string() : header->second;
  };
  const auto read_by = [&](const crypto::KeyPair& wallet) {
    return ask(signed_by(wallet, net::get("/v1/owner")));
  };
  const auto before = read_by(wallet_);
  EXPECT_THAT(before.headers.at("ratelimit-policy"),
              testing::StartsWith("\"jobs\";q=1000, \"tasks\";q=500000, \"models\";q=16, "
                                  "\"uploads\";q="));
  EXPECT_THAT(left(before), testing::StartsWith("\"jobs\";r=1000, \"tasks\";r=500000, "));

  const auto taken = submit(jobs::count_manifest(3, 1), 1);
  EXPECT_EQ(taken.status, 202) << taken.body;
  EXPECT_THAT(left(read_by(wallet_)), testing::StartsWith("\"jobs\";r=999, \"tasks\";r=499997, "));
  EXPECT_THAT(left(read_by(stranger)), testing::StartsWith("\"jobs\";r=1000, "));
  EXPECT_EQ(left(ask(net::get("/v1/info"))), "");
  auto forged = signed_by(wallet_, net::get("/v1/owner"));
  forged.headers["weft-signature"] = Signature().text();
  EXPECT_EQ(left(ask(forged)), "");

  const std::string bytes(1000, 'x');
  const Hash hash = crypto::sha256(as_bytes(bytes));
  const auto uploaded =
      ask(signed_blob(wallet_, net::put("/v1/blobs/" + hash.text(), bytes), hash));
  EXPECT_EQ(uploaded.status, 201) << uploaded.body;
  EXPECT_THAT(left(uploaded), testing::HasSubstr("\"uploads\";r="));
}

// The statuses with which ModelService answers `count` models of one owner.
std::vector<int> statuses_of_models(std::size_t per_owner, const std::string& owner,
                                    std::size_t count) {
  const auto store = store::memory::create();
  store::GroupCommit commits(*store, {});
  jobs::Book book;
  const auto models = ModelService::open(commits, {}, book).value();
  models->set_operator("the operator");
  models->set_models_per_owner(per_owner);
  models->start();
  std::vector<int> statuses;
  const auto wait_for = [&](const auto& ask) {
    std::promise<int> status;
    ask([&](const net::Reply& reply) { status.set_value(reply.status); });
    return status.get_future().get();
  };
  for (std::size_t i = 0; i < count; ++i) {
    inference::ModelCard model = inference::card("m" + std::to_string(i));
    model.owner = owner;
    statuses.push_back(wait_for([&](const net::Respond& respond) { models->add(model, respond); }));
  }
  statuses.push_back(wait_for(
      [&](const net::Respond& respond) { models->remove("m0", "another client", respond); }));
  statuses.push_back(wait_for(
      [&](const net::Respond& respond) { models->remove("m0", "the operator", respond); }));
  models->stop();
  return statuses;
}

// Quotas belong to owners instead of keys: a second device has no second quota, and can remove
// models that the first one added.
TEST(Quotas, DevicesOfOneOwnerShareTheirModels) {
  const auto laptop = crypto::KeyPair::generate().value().public_key();
  const auto phone = crypto::KeyPair::generate().value().public_key();
  const auto store = store::memory::create();
  store::GroupCommit commits(*store, {});
  jobs::Book book;
  const auto models = ModelService::open(commits, {}, book).value();
  models->set_models_per_owner(1);
  models->start();
  const auto status_of = [&](const auto& ask) {
    std::promise<int> status;
    ask([&](const net::Reply& reply) { status.set_value(reply.status); });
    return status.get_future().get();
  };
  const auto add = [&](const char* name, const PublicKey& owner) {
    inference::ModelCard model = inference::card(name);
    model.owner = owner.text();
    return status_of([&](const net::Respond& respond) { models->add(model, respond); });
  };
  const auto remove = [&](const char* name, const PublicKey& by) {
    return status_of(
        [&](const net::Respond& respond) { models->remove(name, by.text(), respond); });
  };
  EXPECT_EQ(add("a", laptop), 201);
  EXPECT_EQ(remove("a", phone), 403) << "a stranger's";
  EXPECT_EQ(add("b", phone), 201);
  EXPECT_EQ(remove("b", phone), 200);

  book.set_device({.key = phone, .owner = OwnerId::of_first(laptop), .name = {}});
  EXPECT_EQ(add("b", phone), 429);
  EXPECT_EQ(models->catalog().count_of(phone), 1U);
  models->set_models_per_owner(0);
  EXPECT_EQ(add("b", phone), 201) << "the attack";
  EXPECT_EQ(remove("a", phone), 200);
  models->stop();
}

TEST(Quotas, OneOwnerDoesNotTakeAllNamesOfModels) {
  EXPECT_EQ(statuses_of_models(2, "mallory", 3), (std::vector{201, 201, 429, 403, 200}));
  EXPECT_EQ(statuses_of_models(2, "the operator", 3), (std::vector{201, 201, 201, 403, 200}));
  EXPECT_EQ(statuses_of_models(0, "mallory", 3), (std::vector{201, 201, 201, 403, 200}))
      << "the attack";
}

}  // namespace
}  // namespace weft::coordinator
