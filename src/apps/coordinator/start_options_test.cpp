// Tests of the preparations for a coordinator's start: a wrong option gives one sentence, other
// machines are reached over TLS, and the referee's secret is made once.
#include "apps/coordinator/start_options.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "platform/store/memory/memory_store.h"

namespace weft::coordinator {
namespace {

namespace fs = std::filesystem;

TEST(StartOptions, OpenTheStoreThatIsNamed) {
  std::string name = (fs::temp_directory_path() / "weft-start-XXXXXX").string();
  const fs::path folder = ::mkdtemp(name.data());

  EXPECT_TRUE(open_store({.store = "memory:"}));
  EXPECT_TRUE(open_store({.data = folder, .store = "sqlite:"}));
  EXPECT_TRUE(fs::exists(folder / "weft.db"));
  EXPECT_TRUE(open_store({.store = "sqlite:" + (folder / "other.db").string()}));
  EXPECT_TRUE(fs::exists(folder / "other.db"));
  const auto unknown = open_store({.store = "postgres:"});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(unknown.error().message.contains("postgres:"));
  fs::remove_all(folder);
}

TEST(StartOptions, ListenBeyondThisMachineOnlyWithTlsOrTheOperatorsWord) {
  const auto plain = [](const Options& options) {
    const auto tls = tls_of(options);
    return tls && !*tls;
  };

  EXPECT_TRUE(plain({.listen = "127.0.0.1"}));
  EXPECT_TRUE(plain({.listen = "::1"}));
  EXPECT_FALSE(tls_of({.listen = "0.0.0.0"}));
  EXPECT_TRUE(plain({.listen = "0.0.0.0", .insecure = true}));
  const auto files = tls_of({.listen = "0.0.0.0", .tls_cert = "c.pem", .tls_key = "k.pem"});
  ASSERT_TRUE(files && *files);
  EXPECT_EQ((*files)->certificate, "c.pem");
  EXPECT_FALSE(tls_of({.tls_cert = "c.pem"})) << "without its key";
  EXPECT_FALSE(tls_of({.tls_cert = "c.pem", .tls_key = "k.pem", .tls_self_signed = true}));
}

TEST(StartOptions, MakeTheSecretOnce) {
  const auto store = store::memory::create();
  const auto first = secret_of(store->load().value(), *store);
  const auto second = secret_of(store->load().value(), *store);

  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->bytes, second->bytes);
  EXPECT_NE(first->bytes, secret_of({}, *store::memory::create()).value().bytes);
}

TEST(StartOptions, NewcomersAnswerOnlyWhereTheOperatorLetsAnyoneDecide) {
  const jobs::Book book;
  Options options;

  options.submission.anyone = false;
  EXPECT_FALSE(desk_settings(options, book).value().newcomers_answer);
  options.submission.anyone = true;
  EXPECT_TRUE(desk_settings(options, book).value().newcomers_answer);
  EXPECT_NE(desk_settings(options, book).value().secret,
            desk_settings(options, book).value().secret);
  options.partition = "diagonal";
  EXPECT_FALSE(desk_settings(options, book));
}

TEST(StartOptions, NameAnAddressThatOtherMachinesReach) {
  EXPECT_EQ(reachable_url("10.0.0.7", "http://10.0.0.7:7300", 7300), "http://10.0.0.7:7300");
  const std::string all = reachable_url("0.0.0.0", "https://0.0.0.0:7300", 7300);
  EXPECT_TRUE(all.starts_with("https://")) << all;
  EXPECT_TRUE(all.ends_with(":7300")) << all;
  EXPECT_FALSE(all.contains("0.0.0.0")) << all;
}

}  // namespace
}  // namespace weft::coordinator
