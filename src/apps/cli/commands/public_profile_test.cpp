// Tests of each setting of `weft serve --public`: the options that it refuses, requires or turns
// on.
#include "apps/cli/commands/public_profile.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace weft::cli {
namespace {

ServeOptions behind_a_proxy() {
  ServeOptions options;
  options.hosts = {"weft.example"};
  options.trusted_proxies = {"127.0.0.1"};
  return options;
}

ServeOptions with_a_certificate() {
  ServeOptions options;
  options.hosts = {"weft.example"};
  options.tls_cert = "cert.pem";
  options.tls_key = "key.pem";
  return options;
}

TEST(PublicProfile, WantsKeysAndListensWhereItIsReached) {
  ServeOptions proxied = behind_a_proxy();
  ASSERT_TRUE(apply_public_profile(proxied));
  EXPECT_TRUE(proxied.require_keys);
  EXPECT_EQ(proxied.listen, "127.0.0.1:7300");

  ServeOptions direct = with_a_certificate();
  ASSERT_TRUE(apply_public_profile(direct));
  EXPECT_TRUE(direct.require_keys);
  EXPECT_EQ(direct.listen, "0.0.0.0:7300");

  ServeOptions chosen = with_a_certificate();
  chosen.listen = "[2001:db8::1]:443";
  ASSERT_TRUE(apply_public_profile(chosen));
  EXPECT_EQ(chosen.listen, "[2001:db8::1]:443");
}

struct Refusal {
  const char* name;
  ServeOptions (*base)();
  std::function<void(ServeOptions&)> change;
  std::string named;
};

class PublicRefusals : public testing::TestWithParam<Refusal> {};
INSTANTIATE_TEST_SUITE_P(
    Each, PublicRefusals,
    testing::Values(
        Refusal{"Insecure", behind_a_proxy, [](auto& o) { o.insecure = true; }, "--insecure"},
        Refusal{"OpenModels", behind_a_proxy, [](auto& o) { o.open_models = true; },
                "--open-models"},
        Refusal{"Anyone", behind_a_proxy, [](auto& o) { o.allow_anyone = true; }, "--allow-anyone"},
        Refusal{"UncheckedShaders", behind_a_proxy, [](auto& o) { o.unchecked_shaders = true; },
                "--unchecked-shaders"},
        Refusal{"SelfSigned", behind_a_proxy, [](auto& o) { o.tls_self_signed = true; },
                "--tls-self-signed"},
        Refusal{"Forgetful", behind_a_proxy, [](auto& o) { o.store = "memory:"; }, "memory:"},
        Refusal{"EveryName", behind_a_proxy, [](auto& o) { o.hosts = {"*"}; }, "--host *"},
        Refusal{"NoName", behind_a_proxy, [](auto& o) { o.hosts.clear(); }, "--host weft.example"},
        Refusal{"NoProxy", behind_a_proxy, [](auto& o) { o.trusted_proxies.clear(); },
                "--trusted-proxy 127.0.0.1"},
        Refusal{"LoopbackInIpv6", with_a_certificate, [](auto& o) { o.listen = "[::1]:7300"; },
                "--trusted-proxy 127.0.0.1"},
        Refusal{"PlainBeyondLoopback", behind_a_proxy, [](auto& o) { o.listen = "0.0.0.0:7300"; },
                "--tls-cert FILE"}),
    [](const auto& info) { return info.param.name; });

TEST_P(PublicRefusals, AreOneSentenceThatNamesTheOption) {
  ServeOptions options = GetParam().base();
  GetParam().change(options);
  const auto result = apply_public_profile(options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(result.error().message.contains(GetParam().named)) << result.error().message;
}

}  // namespace
}  // namespace weft::cli
