// The coordinator's interface as strangers use it, over real sockets. Requests that are malformed,
// unsigned, too large or for data of others are refused with a clear error, and nothing else is
// disturbed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <regex>

#include <sys/time.h>

#include "apps/coordinator/test_process.h"
#include "common/base/format.h"
#include "common/crypto/wallet.h"
#include "common/proof/merkle.h"
#include "common/proof/receipt.h"
#include "common/protocol/price_offer.h"

namespace weft::coordinator {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class InterfaceTest : public ProcessTest {
 protected:
  Hash digest_of(std::string_view text) { return crypto::sha256(as_bytes(text)); }
  const crypto::KeyPair stranger_ = crypto::KeyPair::generate().value();
};

TEST_F(InterfaceTest, AJobIsTakenShownListedAndItsOutputsAreServedInRanges) {
  ScriptedWorker worker(process_->url(), {}, 1);
  const auto id = submitted(jobs::count_manifest(4, 1), 1);

  expect_settled(id, 4);

  const auto job = view<api::Job>("/v1/jobs/" + id);
  EXPECT_EQ(job.kind, "wgsl");
  EXPECT_EQ(job.client, wallet_.public_key().text());
  ASSERT_EQ(job.outputs.size(), 1U);
  EXPECT_THAT(job.outputs[0].shape, ElementsAre(16));
  EXPECT_EQ(view<api::Jobs>("/v1/jobs").jobs.at(0).id, id);
  const auto part = read(net::get_range("/v1/jobs/" + id + "/outputs/0", 4, 4));
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, std::string("\x01\x00\x00\x00", 4));
  EXPECT_EQ(read("/v1/blobs/" + job.outputs[0].hash).body.size(), 64U);
  const auto tasks = view<api::Tasks>("/v1/tasks?job=" + id);
  ASSERT_EQ(tasks.tasks.size(), 4U);
  EXPECT_EQ(tasks.tasks[2].state, "accepted");
  EXPECT_TRUE(tasks.tasks[2].replicas.at(0).agreed);
  const auto workers = view<api::Workers>("/v1/workers").workers;
  ASSERT_EQ(workers.size(), 1U);
  EXPECT_TRUE(workers[0].connected);
  EXPECT_EQ(workers[0].accepted, 4U);
  EXPECT_GT(workers[0].balance, 0);
}

TEST_F(InterfaceTest, TheLedgerTellsWhereAJobsMoneyWentPageByPage) {
  ScriptedWorker worker(process_->url(), {}, 1);
  const auto id = submitted(jobs::count_manifest(5, 1), 1);
  expect_settled(id, 5);
  const std::string of_job = "/v1/ledger?job=" + id;
  const std::string of_worker = "/v1/ledger?account=" + worker.account();

  const auto job = view<api::LedgerJob>(of_job);
  ASSERT_EQ(job.entries.size(), 7U) << "set aside, five tasks paid, the rest returned";
  EXPECT_EQ(job.amount, 0);
  EXPECT_TRUE(job.entries.front().key.starts_with("open:"));
  EXPECT_TRUE(job.entries.back().key.starts_with("close:"));
  MicroCredits escrow = 0;
  for (const auto& entry : job.entries) {
    EXPECT_EQ(entry.job, id);
    MicroCredits sum = 0;
    for (const auto& movement : entry.movements) sum += movement.amount;
    EXPECT_EQ(sum, 0) << entry.key;
    escrow += entry.amount;
    EXPECT_EQ(entry.balance, escrow) << entry.key;
  }
  EXPECT_EQ(escrow, 0);

  const auto first = view<api::LedgerAccount>(of_worker + "&count=3");
  ASSERT_EQ(first.entries.size(), 3U);
  EXPECT_EQ(first.entries.front().balance, first.amount) << "newest first";
  ASSERT_NE(first.next, 0U);
  const auto second =
      view<api::LedgerAccount>(of_worker + "&count=3&from=" + std::to_string(first.next));
  ASSERT_EQ(second.entries.size(), 2U);
  EXPECT_EQ(second.next, 0U);
  EXPECT_EQ(second.entries.front().balance + first.entries.back().amount,
            first.entries.back().balance)
      << "pages follow on one another";
  EXPECT_EQ(second.entries.back().balance, second.entries.back().amount)
      << "the first that it ever earned";

  const std::string of_worker_and_job = of_worker + "&job=" + id;
  for (const std::string& wrong :
       {of_worker + "&count=0", of_worker + "&count=1001", of_worker + "&from=-1",
        of_worker + "&from=x", of_worker + "&from=999999", of_worker_and_job,
        std::string("/v1/ledger?job=x")}) {
    EXPECT_EQ(read(wrong).status, 400) << wrong;
  }
  EXPECT_EQ(read("/v1/ledger?job=" + JobId().text()).status, 404);
}

TEST_F(InterfaceTest, OnlyTheOperatorSetsWeightsAndEverybodySeesThem) {
  const auto coordinators = crypto::load_wallet(folder_ / "coordinator.json");
  ASSERT_TRUE(coordinators.has_value()) << coordinators.error().message;
  const std::string key = wallet_.public_key().text();
  const std::string body = weft::format(R"({{"weight":2.5,"at":{}}})", unix_now());
  const auto post = [&](const crypto::KeyPair& wallet) {
    return ask(signed_by(wallet, net::post("/v1/clients/" + key, body)));
  };
  EXPECT_EQ(post(wallet_).status, 403);
  auto of_another = signed_by(*coordinators, net::post("/v1/clients/" + key, body));
  of_another.path = "/v1/clients/" + stranger_.public_key().text();
  EXPECT_EQ(ask(of_another).status, 401) << "another client's";
  EXPECT_EQ(ask(net::post("/v1/clients/" + key, body)).status, 401);

  const auto set = post(*coordinators);
  EXPECT_EQ(set.status, 200) << set.body;
  const auto clients = view<api::Clients>("/v1/clients").clients;
  ASSERT_EQ(clients.size(), 1U);
  EXPECT_EQ(clients[0].client, key);
  EXPECT_EQ(clients[0].weight, 2.5);
  EXPECT_GT(clients[0].set, 0);
}

class Pages : public InterfaceTest {};

// Replies are bounded, and all pages together are the whole list.
TEST_F(Pages, OfListsGiveEachRowOnce) {
  std::vector<std::unique_ptr<ScriptedWorker>> workers;
  std::set<std::string> keys;
  for (std::uint32_t seed = 1; seed <= 5; ++seed) {
    workers.push_back(std::make_unique<ScriptedWorker>(process_->url(), jobs::Behaviour{}, seed));
    keys.insert(workers.back()->key());
    while (!workers.back()->joined()) std::this_thread::sleep_for(5ms);
  }
  std::set<std::string> seen;
  std::string from;
  std::size_t pages = 0;
  do {
    const auto page = view<api::Workers>("/v1/workers?count=2&from=" + from);
    EXPECT_LE(page.workers.size(), 2U);
    for (const api::Worker& worker : page.workers)
      EXPECT_TRUE(seen.insert(worker.key).second) << worker.key << " twice";
    from = page.next;
    ++pages;
  } while (!from.empty() && pages < 10);
  EXPECT_EQ(seen, keys);
  EXPECT_EQ(pages, 3U);

  const auto whole = view<api::Workers>("/v1/workers");
  EXPECT_EQ(whole.workers.size(), 5U);
  EXPECT_EQ(whole.next, "");
  for (const char* path : {"/v1/workers", "/v1/ledger", "/v1/settlement", "/v1/serving"}) {
    const std::string list = path;
    EXPECT_EQ(read(list + "?count=1").status, 200) << path;
    EXPECT_EQ(read(list + "?count=0").status, 400) << path;
    EXPECT_EQ(read(list + "?count=1001").status, 400) << path;
    EXPECT_EQ(read(list + "?from=nothing").status, 200) << path;
  }
  EXPECT_EQ(ask(net::get("/v1/models?limit=0")).status, 400);
  EXPECT_NE(ask(net::get("/v1/models?limit=1")).body.find("\"has_more\":false"), std::string::npos);
}

TEST_F(Pages, OfTasksGoOnByIndex) {
  const std::string job = submitted(jobs::count_manifest(5, 1), 1);
  const std::string path = "/v1/tasks?job=" + job;

  const auto first = view<api::Tasks>(path + "&count=3");
  const auto second = view<api::Tasks>(path + "&count=3&from=" + std::to_string(first.next));

  ASSERT_EQ(first.tasks.size(), 3U);
  EXPECT_EQ(first.next, 3U);
  ASSERT_EQ(second.tasks.size(), 2U);
  EXPECT_EQ(second.tasks[0].index, 3U);
  EXPECT_EQ(second.next, 0U);
  EXPECT_TRUE(view<api::Tasks>(path + "&from=99").tasks.empty());
  EXPECT_EQ(read(path + "&count=10001").status, 400);
}

TEST_F(InterfaceTest, WhatIsSignedForABlobSubmitsNoJobAndTheOtherWayRound) {
  const std::string manifest = jobs::count_manifest(2, 1);
  const Hash hash = digest_of(manifest);
  const auto as_job = signed_by(wallet_, net::post("/v1/jobs", manifest));
  const auto as_blob = signed_blob(wallet_, net::put("/v1/blobs/" + hash.text(), manifest), hash);
  auto job = net::post("/v1/jobs", manifest);
  auto blob = net::put("/v1/blobs/" + hash.text(), manifest);
  for (const char* name : {"weft-client", "weft-nonce", "weft-time", "weft-signature"}) {
    job.headers[name] = as_blob.headers.at(name);
    blob.headers[name] = as_job.headers.at(name);
  }

  EXPECT_EQ(ask(blob).status, 401) << "a job's signature";
  EXPECT_EQ(ask(job).status, 401) << "a blob's signature";
  EXPECT_EQ(ask(as_blob).status, 201);
}

TEST_F(InterfaceTest, ATasksProofCanBeCheckedWithoutBelievingTheCoordinator) {
  ScriptedWorker one(process_->url(), {}, 1);
  ScriptedWorker two(process_->url(), {}, 2);
  const auto id = submitted(jobs::count_manifest(5, 2), 1);
  expect_settled(id, 5);
  const auto job = view<api::Job>("/v1/jobs/" + id);
  const auto coordinator = PublicKey::parse(view<api::Info>("/v1/info").coordinator).value();

  for (std::uint32_t index = 0; index < 5; ++index) {
    const auto proof = view<api::Proof>(weft::format("/v1/jobs/{}/tasks/{}/proof", id, index));

    // Verifies the path from the bytes to the task's root, and from there to the job's root.
    ASSERT_EQ(proof.outputs.size(), 1U);
    const std::string bytes = read("/v1/blobs/" + proof.outputs[0].hash).body;
    const Hash root =
        proof::task_root(std::vector<ByteVector>(1, ByteVector(bytes.begin(), bytes.end())));
    EXPECT_EQ(root.text(), proof.root);
    proof::InclusionPath path{.index = index, .chunks = proof.tasks, .siblings = {}};
    for (const auto& sibling : proof.path) path.siblings.push_back(Hash::parse(sibling).value());
    EXPECT_EQ(proof.job_root, job.root);
    EXPECT_TRUE(proof::verify_inclusion_of_root(Hash::parse(proof.job_root).value(), root, path));
    // Each worker has signed this root for this task and this coordinator.
    ASSERT_EQ(proof.replicas.size(), 2U);
    for (const auto& replica : proof.replicas) {
      EXPECT_TRUE(replica.agreed);
      const std::string statement = read("/v1/blobs/" + replica.receipt).body;
      EXPECT_EQ(crypto::sha256(as_bytes(statement)).text(), replica.receipt);
      EXPECT_TRUE(crypto::verify_now(PublicKey::parse(replica.worker).value(),
                                     Hash::parse(replica.receipt)->span(),
                                     Signature::parse(replica.signature).value()));
      const std::string claims = read("/v1/blobs/" + replica.claims).body;
      const auto receipt = proof::read_receipt(as_bytes(statement), as_bytes(claims));
      ASSERT_TRUE(receipt) << receipt.error().message;
      EXPECT_EQ(receipt->place.coordinator, coordinator);
      EXPECT_THAT(receipt->claims, testing::Contains(proof::Claim{
                                       .task = {.job = JobId::parse(id).value(), .index = index},
                                       .attempt = replica.attempt,
                                       .root = root}));
    }
  }
  EXPECT_EQ(read("/v1/jobs/" + id + "/tasks/5/proof").status, 404);
  EXPECT_EQ(read("/v1/jobs/" + id + "/tasks/x/proof").status, 404);
  EXPECT_EQ(read("/v1/jobs/x/tasks/0/proof").status, 404);
}

// A worker that saw the root of another worker's result could deliver this result without computing
// it.
TEST_F(InterfaceTest, RootsOfUndecidedTasksAreNotShown) {
  const auto replicas = [&](const std::string& id) {
    return view<api::Tasks>("/v1/tasks?job=" + id).tasks.at(0).replicas;
  };
  const auto proven = [&](const std::string& id) {
    return view<api::Proof>("/v1/jobs/" + id + "/tasks/0/proof").replicas;
  };
  const auto undecided = [&](std::uint64_t nonce) {
    const auto id = submitted(jobs::count_manifest(1, 2), nonce);
    for (const Instant give_up = now() + 60s; replicas(id).empty() && now() < give_up;)
      std::this_thread::sleep_for(20ms);
    return id;
  };
  {
    ScriptedWorker first(process_->url(), {}, 1);
    const auto id = undecided(1);
    ASSERT_EQ(replicas(id).size(), 1U);
    EXPECT_EQ(replicas(id)[0].root, "");
    EXPECT_TRUE(proven(id).empty()) << "nor what its receipt signs";

    ScriptedWorker second(process_->url(), {}, 2);
    expect_settled(id, 1);
    ASSERT_EQ(replicas(id).size(), 2U);
    for (const auto& replica : replicas(id)) EXPECT_EQ(replica.root.size(), 64U);
    EXPECT_EQ(proven(id).size(), 2U);
  }

  process_->stop();
  setenv("WEFT_TEST_UNDECIDED_ROOTS", "1", 1);
  process_->start();
  unsetenv("WEFT_TEST_UNDECIDED_ROOTS");
  wait_until_ready();
  ScriptedWorker alone(process_->url(), {}, 3);
  const auto id = undecided(2);
  EXPECT_EQ(replicas(id).at(0).root.size(), 64U) << "the attack";
  EXPECT_EQ(proven(id).at(0).root.size(), 64U);
}

TEST_F(InterfaceTest, RequestsThatAreNotSignedOrWronglySignedAreRefused) {
  const auto text = jobs::count_manifest(1, 1);

  const auto unsigned_request = ask(net::post("/v1/jobs", text));
  auto changed = signed_by(wallet_, net::post("/v1/jobs", "something else"));
  changed.body = text;
  const auto other_body = ask(changed);
  auto other_key = signed_by(wallet_, net::post("/v1/jobs", text));
  other_key.headers["weft-client"] = stranger_.public_key().text();

  EXPECT_EQ(unsigned_request.status, 401);
  EXPECT_EQ(unsigned_request.headers.at("content-type"), "application/problem+json");
  EXPECT_THAT(net::error_of(unsigned_request).message, HasSubstr("Weft-Signature"));
  EXPECT_EQ(other_body.status, 401);
  EXPECT_EQ(ask(other_key).status, 401);
  EXPECT_TRUE(view<api::Jobs>("/v1/jobs").jobs.empty());
}

TEST_F(InterfaceTest, AQuoteIsForOneClientAndOneManifestAndItsNumbersAreSigned) {
  const std::string text = jobs::count_manifest(2, 1);
  const auto quoted =
      api::from_json<api::Quote>(ask(signed_by(wallet_, net::post("/v1/jobs/quote", text))).body);
  ASSERT_TRUE(quoted.has_value()) << quoted.error().message;
  auto cheaper = protocol::read_offer(quoted->quote).value();
  cheaper.per_unit = 1;
  const auto submit_with = [&](const crypto::KeyPair& who, const std::string& quote,
                               const std::string& manifest) {
    return ask(signed_by(who, net::post("/v1/jobs?quote=" + quote, manifest)));
  };

  for (const auto& refused : {submit_with(wallet_, protocol::offer_text(cheaper), text),
                              submit_with(stranger_, quoted->quote, text),
                              submit_with(wallet_, quoted->quote, jobs::count_manifest(3, 1))}) {
    EXPECT_EQ(refused.status, 400);
    EXPECT_THAT(
        net::error_of(refused).message,
        HasSubstr("The quote is for another manifest or client, or from another coordinator"));
  }
  const auto taken = submit_with(wallet_, quoted->quote, text);
  EXPECT_TRUE(api::from_json<api::Submitted>(taken.body).has_value()) << taken.body;
}

// A coordinator that grants nothing to new clients.
class NoGrantTest : public InterfaceTest {
 protected:
  void SetUp() override {
    setenv("WEFT_TEST_GRANT", "0", 1);
    InterfaceTest::SetUp();
    unsetenv("WEFT_TEST_GRANT");
  }
};

TEST_F(NoGrantTest, WhoHoldsNoCreditsAddsNoModelAndSubmitsNoJob) {
  const auto add = [&](const crypto::KeyPair& who) {
    return ask(signed_by(who, net::post("/v1/models", "{}")));
  };
  const auto operator_wallet = crypto::load_or_create_wallet(folder_ / "coordinator.json");
  ASSERT_TRUE(operator_wallet.has_value());

  EXPECT_EQ(add(stranger_).status, 402);
  EXPECT_EQ(add(*operator_wallet).status, 400) << "which is not a card";
  const auto for_nothing = jobs::count_manifest(1, 1, "", 0);
  EXPECT_EQ(ask(signed_by(stranger_, net::post("/v1/jobs", for_nothing))).status, 400);
  const auto job = jobs::count_manifest(1, 1);
  EXPECT_EQ(ask(signed_by(stranger_, net::post("/v1/jobs", job))).status, 402);
}

TEST_F(InterfaceTest, AManifestThatBreaksARuleIsRefusedWithThePlace) {
  const std::string text = R"({"weft":1,
    "kind":"dance"})";

  const auto answer = ask(signed_by(wallet_, net::post("/v1/jobs", text)));

  EXPECT_EQ(answer.status, 400);
  EXPECT_THAT(net::error_of(answer).message, HasSubstr("line 2"));
}

TEST_F(InterfaceTest, AJobThatAsksForTooMuchIsRefusedForGood) {
  const std::string large =
      R"({"weft":1,"kind":"wgsl","name":"large","shader":{"inline":"fn main() {}"},"entry":"main",
    "bindings":[{"binding":0,"role":"output","type":"u32","shape":[536870912],"split_dim":0}],"dispatch":[4,1,1],"split":{"axis":"x","tasks":2},
    "verify":{"compare":"exact","replicas":1},"budget":1})";

  const auto answer = ask(signed_by(wallet_, net::post("/v1/jobs", large)));

  EXPECT_EQ(answer.status, 413);
  EXPECT_THAT(net::error_of(answer).message, HasSubstr("2147483648 bytes"));
}

TEST_F(InterfaceTest, OnlyItsClientCancelsAJobAndIsRefunded) {
  const auto id = submitted(jobs::count_manifest(4, 1), 1);
  net::Request request;
  request.method = "DELETE";
  request.path = "/v1/jobs/" + id;

  const auto foreign = ask(signed_by(stranger_, request));
  const auto own = ask(signed_by(wallet_, request));

  EXPECT_EQ(foreign.status, 403);
  EXPECT_EQ(own.status, 200);
  EXPECT_EQ(api::from_json<api::Job>(own.body)->state, "cancelled");
  const auto account =
      view<api::LedgerAccount>("/v1/ledger?account=granted:" + wallet_.public_key().text());
  EXPECT_EQ(account.amount, 100'000'000'000);
  EXPECT_EQ(read("/v1/jobs/" + id + "/outputs/0").status, 409);
}

TEST_F(InterfaceTest, BlobsAreTakenUnderTheirHashFromWhoSigns) {
  const std::string bytes(300'000, 'b');
  const Hash hash = digest_of(bytes);
  const std::string path = "/v1/blobs/" + hash.text();

  const auto unsigned_put = ask(net::put(path, bytes));
  const auto bad_token = ask(net::with_bearer(net::put(path, bytes), "made up"));
  const auto other_bytes = ask(signed_blob(wallet_, net::put(path, "other"), hash));
  const auto missing = read(path);
  const auto taken = ask(signed_blob(wallet_, net::put(path, bytes), hash));
  const auto again = ask(signed_blob(wallet_, net::put(path, bytes), hash));
  auto unchanged = net::get(path);
  unchanged.headers["if-none-match"] = '"' + hash.text() + '"';

  EXPECT_EQ(unsigned_put.status, 401);
  EXPECT_EQ(bad_token.status, 401);
  EXPECT_EQ(other_bytes.status, 400);
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(taken.status, 201) << taken.body;
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(read(net::get_range(path, 299'999, 10)).body, "b");
  EXPECT_EQ(read(path).body, bytes);
  EXPECT_EQ(read(unchanged).status, 304);
  EXPECT_EQ(ask(net::get(path)).status, 401);
  EXPECT_EQ(ask(net::with_bearer(net::get(path), "no worker's")).status, 401);
  EXPECT_EQ(ask(signed_by(wallet_, net::get(path))).status, 403) << "who has stored it, too";
}

TEST_F(InterfaceTest, LargeBlobsComeInPartsThatGoOnWhereTheyEnded) {
  const std::string bytes(300'000, 'p');
  const Hash hash = digest_of(bytes);
  const std::string path = "/v1/blobs/" + hash.text(),
                    there = path + "/upload/" + wallet_.public_key().text();
  const auto part = [&](std::size_t from, std::size_t to) {
    net::Request request = net::put(path, bytes.substr(from, to - from));
    request.headers["content-range"] = weft::format("bytes {}-{}/{}", from, to - 1, bytes.size());
    return signed_part(wallet_, std::move(request),
                       {.blob = hash, .first = from, .total = bytes.size()});
  };
  auto nonsense = net::put(path, "x");
  nonsense.headers["content-range"] = "bytes 5-2/9";
  auto unsigned_part = part(0, 10);
  unsigned_part.headers.erase("weft-signature");

  EXPECT_EQ(ask(unsigned_part).status, 401);
  EXPECT_EQ(ask(signed_blob(wallet_, nonsense, hash)).status, 400);
  EXPECT_EQ(ask(signed_by(wallet_, net::get(there))).body, R"({"bytes":0})");
  EXPECT_EQ(ask(part(0, 100'000)).status, 202);
  EXPECT_EQ(ask(signed_by(wallet_, net::get(there))).body, R"({"bytes":100000})");
  EXPECT_EQ(ask(part(200'000, 300'000)).status, 409);
  EXPECT_EQ(read(path).status, 404);
  EXPECT_EQ(ask(part(100'000, 300'000)).status, 201);
  EXPECT_EQ(read(path).body, bytes);
  EXPECT_EQ(ask(signed_by(wallet_, net::get(there))).body, R"({"bytes":300000})");
  EXPECT_EQ(ask(part(0, 100'000)).status, 200) << "it is there";
}

TEST_F(InterfaceTest, DataThatAJobNamesMustBeThere) {
  const std::string missing = digest_of("nothing").text();
  const std::string text =
      R"({"weft":1,"kind":"kernel","name":"product","kernel":"matmul_i8","m":4,"n":4,"k":4,"a":{"blob":")" +
      missing + R"("},"b":{"blob":")" + missing +
      R"("},"verify":{"compare":"exact","replicas":1},"budget":1})";

  const auto answer = ask(signed_by(wallet_, net::post("/v1/jobs", text)));

  EXPECT_EQ(answer.status, 400);
  EXPECT_THAT(net::error_of(answer).message, HasSubstr("PUT /v1/blobs/"));
}

TEST_F(InterfaceTest, UnknownThingsAreProblemsAndTheRestIsAnswered) {
  EXPECT_EQ(read("/v1/jobs/00000000000000000000000000000000").status, 404);
  EXPECT_EQ(read("/v1/jobs/x").status, 404);
  EXPECT_EQ(read("/v1/blobs/x").status, 400);
  EXPECT_EQ(ask(net::get("/v1/tasks")).status, 400);
  EXPECT_EQ(ask(net::get("/v1/ledger?account=pirate:x")).status, 400);
  EXPECT_EQ(ask(net::get("/v1/jobs?before=x")).status, 400);
  EXPECT_EQ(ask(net::get("/v1/jobs?before=-1")).status, 400);
  EXPECT_EQ(ask(net::get("/v1/worker")).status, 426);
  EXPECT_EQ(ask(net::post("/v1/workers", "")).status, 405);
  EXPECT_EQ(ask(net::post("/v1/workers", "")).headers.at("allow"), "GET, HEAD");
  EXPECT_EQ(ask(net::get("/healthz")).body, "ok\n");
  EXPECT_THAT(ask(net::get("/metrics")).body, HasSubstr("\nweft_ledger_sum 0\n"));
  EXPECT_THAT(ask(net::get("/")).body, HasSubstr("coordinator is running"));
  const auto info = view<api::Info>("/v1/info");
  EXPECT_FALSE(info.tls);
  EXPECT_EQ(info.grant, 100'000'000'000);
}

// The error codes that a socket got until the coordinator closed it.
struct Heard {
  std::vector<std::string> codes;
  bool closed = false;
};
Heard converse(net::Client& client, const std::function<void(net::Socket&)>& talk) {
  auto heard = std::make_shared<Heard>();
  auto ended = std::make_shared<std::promise<void>>();
  auto opened = std::make_shared<std::promise<void>>();
  auto socket =
      client.connect("/v1/worker", {.open = [opened] { opened->set_value(); },
                                    .text =
                                        [heard](const std::string& text) {
                                          // Errors are written in the protocol version of the
                                          // receiver.
                                          static const std::regex error(
                                              R"re("type":"error".*"code":"([a-z_]+)")re");
                                          std::smatch found;
                                          if (std::regex_search(text, found, error))
                                            heard->codes.push_back(found[1]);
                                        },
                                    .closed =
                                        [heard, ended](const Error&) {
                                          heard->closed = true;
                                          ended->set_value();
                                        }});
  opened->get_future().wait();
  talk(*socket);
  if (ended->get_future().wait_for(20s) == std::future_status::ready) return *heard;
  socket->close();
  return {};
}

TEST_F(InterfaceTest, MalformedAndOversizedFramesAreAnsweredWithOneErrorAndOthersWorkOn) {
  ScriptedWorker honest(process_->url(), {}, 1);
  const std::vector<std::pair<std::function<void(net::Socket&)>, std::string>> rows = {
      {[](net::Socket& socket) { socket.send_text("{"); }, "invalid_argument"},
      {[](net::Socket& socket) { socket.send_text(R"({"type":"hello","v":1})"); }, "unsupported"},
      {[](net::Socket& socket) { socket.send_text(R"({"type":"hello","v":8})"); },
       "invalid_argument"},
      {[](net::Socket& socket) { socket.send_text(R"({"type":"beat","v":9,"running":0})"); },
       "unsupported"},
      {[](net::Socket& socket) { socket.send_binary(ByteVector(100, 0xff)); }, "unauthenticated"},
      {[](net::Socket& socket) { socket.send_binary(ByteVector(4'100, 1)); }, "resource_exhausted"},
      {[](net::Socket& socket) { socket.send_text(std::string(4'100, '[')); },
       "resource_exhausted"},
      // The coordinator does not wait for the end of a stranger's message that would be far too
      // long.
      {[](net::Socket& socket) { socket.send_binary(ByteVector(2'000'000, 1)); }, ""},
      {[](net::Socket& socket) { socket.send_text(std::string(1'500'000, '[')); }, ""},
  };

  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Heard heard = converse(*client_, rows[i].first);
    EXPECT_TRUE(heard.closed) << "row " << i;
    const std::vector<std::string> expected(rows[i].second.empty() ? 0 : 1, rows[i].second);
    EXPECT_EQ(heard.codes, expected) << "row " << i;
  }

  expect_settled(submitted(jobs::count_manifest(4, 1), 1), 4);
  EXPECT_EQ(honest.errors(), 0U);
}

// A WebSocket without a library, for frames that a library would not send.
class RawSocket {
 public:
  explicit RawSocket(const std::string& url) {
    descriptor_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(net::Url::parse(url)->port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address),
              0);
    const timeval patience{.tv_sec = 20, .tv_usec = 0};
    setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(descriptor_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    send(
        "GET /v1/worker HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: "
        "websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
        "AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n");
    char answer[512];
    EXPECT_GT(recv(descriptor_, answer, sizeof answer, 0), 0);
  }
  ~RawSocket() { close(descriptor_); }

  // Returns false after the coordinator has closed the connection.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

 private:
  int descriptor_;
};

// The number of bytes of repeated `piece` that are accepted before the connection ends, at most
// `bytes_max`.
std::size_t bytes_taken(RawSocket& socket, const std::string& piece, std::size_t bytes_max) {
  std::size_t sent = 0;
  while (sent < bytes_max && socket.send(piece)) sent += piece.size();
  return sent;
}

TEST_F(InterfaceTest, AMessageInEndlessFragmentsIsNotKept) {
  RawSocket socket(process_->url());
  // The first fragment of a masked text message, and continuations that never end it.
  std::string fragment =
      std::string("\x00\xff\x00\x00\x00\x00\x00\x00\xff\xff\x00\x00\x00\x00", 14) +
      std::string(0xffff, 'a');
  ASSERT_TRUE(socket.send(std::string("\x01\x80\x00\x00\x00\x00", 6)));

  EXPECT_LT(bytes_taken(socket, fragment, 64'000'000), 32'000'000U);

  EXPECT_EQ(ask(net::get("/healthz")).status, 200);
}

TEST_F(InterfaceTest, AnUnmaskedFrameOfAnyLengthIsNotKept) {
  RawSocket socket(process_->url());
  ASSERT_TRUE(socket.send(
      std::string("\x82\x7f\x00\x00\x00\x10\x00\x00\x00\x00", 10)));  // The frame announces 64 GiB.

  EXPECT_LT(bytes_taken(socket, std::string(65536, 'a'), 64'000'000), 32'000'000U);

  EXPECT_EQ(ask(net::get("/healthz")).status, 200);
}

TEST_F(InterfaceTest, ItStopsInOrderAndGoesOnLater) {
  ScriptedWorker worker(process_->url(), {}, 1);
  const auto id = submitted(jobs::count_manifest(30, 1), 1);

  EXPECT_EQ(process_->stop(), 0);
  process_->start();

  expect_settled(id, 30);
}

TEST_F(InterfaceTest, OneFolderServesOneCoordinator) {
  const auto second = Coordinator::start({.port = 0, .data = folder_});

  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, ErrorCode::unavailable);
  EXPECT_THAT(second.error().message, HasSubstr("Another coordinator"));
}

// Each row has options that contradict each other, and a word that the message must contain.
struct Refusal {
  Options options;
  const char* names;
};
class Refusals : public testing::TestWithParam<Refusal> {};

TEST_P(Refusals, NameWhatToDo) {
  Options options = GetParam().options;
  std::string pattern = (fs::temp_directory_path() / "weft-options-XXXXXX").string();
  options.data = mkdtemp(pattern.data());

  const auto refused = Coordinator::start(options);

  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(refused.error().message, HasSubstr(GetParam().names));
  fs::remove_all(options.data);
}
INSTANTIATE_TEST_SUITE_P(
    Rows, Refusals,
    testing::Values(
        Refusal{{.listen = "0.0.0.0", .data = {}}, "--tls-self-signed"},
        Refusal{{.listen = "everywhere", .data = {}, .insecure = true}, "IP address"},
        Refusal{{.data = {}, .tls_cert = "cert.pem"}, "--tls-key"},
        Refusal{{.data = {}, .tls_cert = "cert.pem", .tls_key = "key.pem", .tls_self_signed = true},
                "not both"},
        Refusal{{.data = {}, .store = "oracle:"}, "sqlite:"}));

}  // namespace
}  // namespace weft::coordinator
