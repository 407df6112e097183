// Tests that a running coordinator follows the table in docs/http.md, "Who may use which route",
// and that the table lists every route.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "apps/coordinator/test_process.h"
#include "common/base/format.h"
#include "common/crypto/wallet.h"
#include "common/proof/claim_tree.h"

namespace weft::coordinator {
namespace {

struct Row {
  std::string method;
  std::string target;  // Target of the request, such as "/v1/jobs/ID?x=1".
  std::string who;
};

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(fs::path(WEFT_SOURCE_DIR) / file).rdbuf();
  return text.str();
}

std::vector<Row> table() {
  const std::string text = text_of("docs/http.md");
  const auto begin = text.find("## Who may use which route");
  EXPECT_NE(begin, std::string::npos);
  const std::string part = text.substr(begin, text.find("\n## ", begin + 1) - begin);
  std::vector<Row> rows;
  static const std::regex line("\n\\| (`.*`) \\| ([a-z, ]+) \\|"), route("`([A-Za-z]+) (/[^`]*)`");
  for (std::sregex_iterator one(part.begin(), part.end(), line), end; one != end; ++one) {
    const std::string routes = (*one)[1];
    for (std::sregex_iterator each(routes.begin(), routes.end(), route); each != end; ++each)
      rows.push_back({(*each)[1], (*each)[2], (*one)[2]});
  }
  return rows;
}

// The route's pattern for a target: "/v1/jobs/{}" for "/v1/jobs/ID?x=1".
std::string pattern_of(const std::string& target) {
  static const std::regex variable("/[A-Z]+");
  return std::regex_replace(target.substr(0, target.find('?')), variable, "/{}");
}

class RoutesTest : public ProcessTest {
 protected:
  void SetUp() override {
    setenv("WEFT_TEST_KEYS", "1", 1);
    ProcessTest::SetUp();
    unsetenv("WEFT_TEST_KEYS");
    const auto answer = submit(jobs::count_manifest(1, 1), 1);
    const auto job = api::from_json<api::Submitted>(answer.body);
    ASSERT_TRUE(job.has_value()) << answer.body;
    job_ = job->id;
    link_ = job->link;
    static const std::regex members(R"re("secret":"([^"]+)".*"id":"([^"]+)")re");
    for (int i = 0; i < 2; ++i) {  // Makes one key to use and one to revoke.
      const auto made = ask(signed_by(wallet_, net::post("/v1/keys", R"({"name":"k"})")));
      std::smatch found;
      ASSERT_TRUE(std::regex_search(made.body, found, members)) << made.body;
      if (i == 0) secret_ = found[1];
      key_id_ = found[2];
    }
  }

  // The request of a table row, for objects that belong to wallet_.
  [[nodiscard]] net::Request request_of(const Row& row) const {
    const Hash blob = crypto::sha256(as_bytes(bytes_));
    const bool of_keys = row.target.starts_with("/v1/keys/");
    const bool of_responses = row.target.starts_with("/v1/responses/");
    const std::map<std::string, std::string> names{{"ID", of_keys        ? key_id_
                                                          : of_responses ? "resp_0"
                                                                         : job_},
                                                   {"I", "0"},
                                                   {"HASH", blob.text()},
                                                   {"KEY", wallet_.public_key().text()},
                                                   {"NONCE", std::string(32, '0')},
                                                   {"NAME", "none"},
                                                   {"EPOCH", "1"}};
    static const std::regex variable("[A-Z]+");
    std::string path;
    auto rest = row.target.cbegin();
    for (std::sregex_iterator one(row.target.begin(), row.target.end(), variable), end; one != end;
         ++one) {
      path.append(rest, (*one)[0].first);
      path += names.at((*one)[0]);
      rest = (*one)[0].second;
    }
    path.append(rest, row.target.cend());
    if (row.method == "POST") return net::post(path, "{}");
    if (row.method == "PUT") return net::put(path, bytes_);
    return {.method = row.method, .path = path, .headers = {}, .body = {}};
  }
  int asked_by(const crypto::KeyPair& wallet, const Row& row) {
    auto request = request_of(row);
    if (row.method == "PUT")
      return ask(signed_blob(wallet, request, crypto::sha256(as_bytes(bytes_)))).status;
    return ask(signed_by(wallet, request)).status;
  }

  const std::string bytes_ = "bytes of a blob";
  const crypto::KeyPair stranger_ = crypto::KeyPair::generate().value();
  std::string job_;
  std::string link_;
  std::string key_id_;
  std::string secret_;
};

TEST_F(RoutesTest, AreUsedByThePartiesThatTheDocumentNames) {
  const auto refused = testing::AnyOf(401, 403);
  const auto refused_or_not_found = testing::AnyOf(403, 404);
  for (const Row& row : table()) {
    // Access is checked in messages, not when the socket opens.
    if (row.method == "WebSocket") continue;
    const auto can = [&](std::string_view who) { return row.who.contains(who); };
    const std::string name = row.method + " " + row.target;

    const int anonymous = ask(request_of(row)).status;
    EXPECT_THAT(anonymous, can("all") ? testing::Not(refused) : testing::Matcher<int>(refused))
        << name;
    if (can("all")) continue;
    if (can("key")) {
      EXPECT_THAT(ask(net::with_bearer(request_of(row), secret_)).status, testing::Not(refused))
          << name;
      continue;
    }
    Row with_link = row;
    with_link.target += (row.target.contains('?') ? "&link=" : "?link=") + link_;
    EXPECT_THAT(ask(request_of(with_link)).status,
                can("link") ? testing::Not(refused) : testing::Matcher<int>(refused))
        << name;
    const int foreign = asked_by(stranger_, row);
    if (can("client")) {
      EXPECT_THAT(foreign, testing::Not(refused)) << name;
    } else {
      EXPECT_THAT(foreign, refused_or_not_found) << name;
    }
    if (can("operator")) {
      EXPECT_THAT(asked_by(*operators_, row), testing::Not(refused)) << name;
    }
    // An owner's last device cannot be removed, so that this route refuses the owner too.
    if (can("owner") && !row.target.starts_with("/v1/owner/devices")) {
      EXPECT_THAT(asked_by(wallet_, row), testing::Not(refused)) << name;
    }
    if (!can("owner") && !can("client")) {
      EXPECT_THAT(asked_by(wallet_, row), refused_or_not_found) << name;
    }
  }
}

// Finding M-13 of the security review: every client could read all jobs, results and balances.
TEST_F(RoutesTest, OthersSeeFiguresOnly) {
  const ScriptedWorker worker(process_->url(), jobs::Behaviour{}, 1);
  const auto done = finished(job_);
  ASSERT_EQ(done.state, "done") << done.reason;
  const auto anonymous = [&](const std::string& path) { return ask(net::get(path)).body; };
  const auto foreign = [&](const std::string& path) {
    return ask(signed_by(stranger_, net::get(path))).body;
  };
  const std::string client = wallet_.public_key().text();

  for (const std::string& body : {anonymous("/v1/jobs"), foreign("/v1/jobs")}) {
    const auto jobs = api::from_json<api::Jobs>(body).value().jobs;
    ASSERT_EQ(jobs.size(), 1U);
    EXPECT_EQ(jobs[0].state, "done");
    EXPECT_EQ(jobs[0].accepted, 1U);
    EXPECT_EQ(jobs[0].name + jobs[0].client + jobs[0].root, "");
    EXPECT_EQ(jobs[0].budget + jobs[0].price, 0);
    EXPECT_TRUE(jobs[0].outputs.empty());
  }
  const auto own = api::from_json<api::Jobs>(
      ask(signed_by(wallet_, net::get("/v1/jobs?client=" + client))).body);
  ASSERT_TRUE(own.has_value());
  EXPECT_EQ(own->jobs.at(0).client, client);
  EXPECT_EQ(own->jobs.at(0).root, done.root);

  for (const std::string& body : {anonymous("/v1/ledger"), foreign("/v1/ledger")}) {
    const auto ledger = api::from_json<api::Ledger>(body).value();
    EXPECT_FALSE(ledger.balances.empty());
    MicroCredits sum = 0;
    for (const api::Balance& balance : ledger.balances) {
      EXPECT_FALSE(balance.account.contains(':')) << balance.account;
      sum += balance.amount;
    }
    EXPECT_EQ(sum, 0);
    EXPECT_EQ(body.find(client), std::string::npos);
  }
  EXPECT_NE(read("/v1/ledger").body.find(client), std::string::npos) << "the operator sees all";

  for (const std::string& body : {anonymous("/v1/workers"), foreign("/v1/workers")})
    EXPECT_EQ(api::from_json<api::Workers>(body).value().workers.at(0).balance, 0);
  EXPECT_GT(view<api::Workers>("/v1/workers").workers.at(0).balance, 0);
}

TEST_F(RoutesTest, AJobsLinkShowsThisJobAndNoOther) {
  const std::string other = submitted(jobs::count_manifest(1, 1), 2);
  const ScriptedWorker worker(process_->url(), jobs::Behaviour{}, 1);
  (void)finished(job_);
  (void)finished(other);
  const auto of = [&](const std::string& path) {
    return ask(net::get(path + (path.contains('?') ? "&link=" : "?link=") + link_));
  };
  const std::string job = "/v1/jobs/" + job_;

  EXPECT_EQ(of("/v1/jobs/" + other).status, 403);
  EXPECT_EQ(of("/v1/jobs/" + other + "/outputs/0").status, 403);
  EXPECT_EQ(of("/v1/ledger?job=" + other).status, 403);
  const auto shown = api::from_json<api::Job>(of(job).body);
  ASSERT_TRUE(shown.has_value());
  EXPECT_EQ(shown->client, wallet_.public_key().text());
  EXPECT_EQ(of(job + "/outputs/0").body.size(), shown->outputs.at(0).bytes);
  const auto proof = api::from_json<api::Proof>(of(job + "/tasks/0/proof").body);
  ASSERT_TRUE(proof.has_value());
  const std::string output = proof->outputs.at(0).hash;
  EXPECT_EQ(of(job + "/blobs/" + output).status, 200);
  EXPECT_EQ(of(job + "/blobs/" + proof->replicas.at(0).receipt).status, 200);
  const std::string claims = job + "/blobs/" + proof->replicas.at(0).claims;
  EXPECT_EQ(of(claims + "?receipt=" + proof->replicas.at(0).receipt).status, 200);
  EXPECT_EQ(of(job + "/blobs/" + Hash().text()).status, 404);
  EXPECT_EQ(of("/v1/blobs/" + output).status, 401) << "blobs have no owner: a job's route shows it";

  const auto ledger = api::from_json<api::LedgerJob>(of("/v1/ledger?job=" + job_).body);
  ASSERT_TRUE(ledger.has_value());
  ASSERT_FALSE(ledger->entries.empty());
  for (const api::LedgerEntry& entry : ledger->entries) {
    for (const api::LedgerMovement& movement : entry.movements) {
      if (!movement.account.starts_with("escrow")) {
        EXPECT_EQ(movement.balance, 0) << movement.account << ": what others hold is theirs";
      }
    }
  }
}

TEST(Routes, AreAllInTheDocument) {
  std::set<std::string> documented;
  for (const Row& row : table()) documented.insert(pattern_of(row.target));
  ASSERT_GT(documented.size(), 30U);
  static const std::regex literal("\"(/[a-z0-9/{}_-]*[a-z0-9}])\"");

  std::size_t routes = 0;
  std::vector<fs::path> files{"src/apps/coordinator/coordinator.cpp"};
  for (const auto& entry :
       fs::directory_iterator(fs::path(WEFT_SOURCE_DIR) / "src/apps/coordinator/http")) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".cpp") && !name.ends_with("_test.cpp")) files.push_back(entry.path());
  }
  for (const fs::path& file : files) {
    const std::string text = text_of(file);
    for (std::sregex_iterator one(text.begin(), text.end(), literal), end; one != end; ++one) {
      ++routes;
      EXPECT_TRUE(documented.contains((*one)[1])) << (*one)[1] << " in " << file;
    }
  }
  EXPECT_GT(routes, 30U);
}

// A worker signs its latest results in one receipt, even if they belong to different jobs.
TEST_F(RoutesTest, ReceiptsShowOtherJobsAsDigests) {
  const TaskId mine{.job = JobId::parse(job_).value(), .index = 0};
  TaskId other{.job = mine.job, .index = 3};
  other.job.bytes[15] ^= 1;
  const protocol::ReceiptItem beside{
      .task = other, .attempt = 5, .root = crypto::sha256(as_bytes(bytes_))};
  const ScriptedWorker worker(process_->url(), {.beside = {beside}}, 1);
  (void)finished(job_);
  const auto of = [&](const std::string& path) {
    return ask(signed_by(wallet_, net::get("/v1/jobs/" + job_ + path)));
  };
  const auto proof = api::from_json<api::Proof>(of("/tasks/0/proof").body);
  ASSERT_TRUE(proof.has_value());
  const api::ProofReplica& replica = proof->replicas.at(0);
  const std::string statement = of("/blobs/" + replica.receipt).body;
  const std::string shown = of("/blobs/" + replica.claims + "?receipt=" + replica.receipt).body;

  // The owner sees the claim of its own job, and of the claim of the other job only a digest. Both
  // lead to the signed root.
  const std::vector<proof::Claim> claims{
      {.task = mine, .attempt = replica.attempt, .root = Hash::parse(replica.root).value()},
      {.task = other, .attempt = beside.attempt, .root = beside.root}};
  EXPECT_EQ(shown, as_text(proof::claims_shown(claims, mine.job)));
  EXPECT_EQ(crypto::sha256(as_bytes(shown)).text(), replica.claims);
  EXPECT_TRUE(shown.contains(as_text(mine.job.span())));
  EXPECT_FALSE(shown.contains(as_text(other.job.span())));
  EXPECT_FALSE(shown.contains(as_text(beside.root.span())));
  EXPECT_TRUE(shown.contains(as_text(proof::claim_digest(claims[1]).span())));
  EXPECT_TRUE(statement.ends_with(as_text(proof::root_of_claims(claims).span())));

  const Hash stored = crypto::sha256(proof::claims_text(claims));
  EXPECT_EQ(of("/blobs/" + stored.text()).status, 404);
  EXPECT_EQ(of("/blobs/" + stored.text() + "?receipt=" + replica.receipt).status, 404);
  EXPECT_EQ(of("/blobs/" + replica.claims + "?receipt=" + stored.text()).status, 404);
}

}  // namespace
}  // namespace weft::coordinator
