#include "apps/cli/commands/public_profile.h"

#include <algorithm>
#include <string_view>

#include "platform/net/server.h"

namespace weft::cli {
namespace {

Result<> refuse_what_it_closes(const ServeOptions& options) {
  struct Opening {
    bool asked;
    std::string_view option, what;
  };
  for (const auto& [asked, option, what] : {
           Opening{options.insecure, "--insecure",
                   "signatures and answers would cross the network in the open"},
           Opening{options.open_models, "--open-models",
                   "strangers would have models answer for nothing"},
           Opening{options.allow_anyone, "--allow-anyone",
                   "a thousand free wallets of one stranger could decide a result"},
           Opening{options.unchecked_shaders, "--unchecked-shaders",
                   "workers would be the first to compile what strangers send"},
           Opening{options.tls_self_signed, "--tls-self-signed",
                   "strangers' browsers refuse such a certificate"},
           Opening{options.store == "memory:", "--store memory:",
                   "accounts and jobs would end with the program"},
           Opening{std::ranges::contains(options.hosts, "*"), "--host *",
                   "a page of any other name could ask in its visitors' place"},
       }) {
    if (asked)
      return fail(ErrorCode::invalid_argument, "--public does not go with {}: {}.", option, what);
  }
  return {};
}

// `listen` is ADDRESS:PORT, with an IPv6 address in brackets.
bool is_loopback(std::string_view listen) {
  std::string_view address = listen.substr(0, listen.rfind(':'));
  if (address.starts_with('[') && address.ends_with(']'))
    address = address.substr(1, address.size() - 2);
  return net::is_loopback(address);
}

}  // namespace

Result<> apply_public_profile(ServeOptions& options) {
  WEFT_OK(refuse_what_it_closes(options));
  if (options.hosts.empty())
    return fail(ErrorCode::invalid_argument,
                "--public needs the name by which others ask: --host weft.example.");
  const bool encrypted = !options.tls_cert.empty();
  if (encrypted && options.trusted_proxies.empty() && options.listen == ServeOptions{}.listen)
    options.listen = "0.0.0.0:7300";
  const bool loopback = is_loopback(options.listen);
  if (loopback && options.trusted_proxies.empty())
    return fail(ErrorCode::invalid_argument,
                "--public needs encryption that browsers trust: a certificate (--tls-cert FILE "
                "--tls-key FILE), or a proxy with one (--trusted-proxy 127.0.0.1).");
  if (!loopback && !encrypted)
    return fail(ErrorCode::invalid_argument,
                "--public on {} needs a certificate that browsers trust (--tls-cert FILE --tls-key "
                "FILE); a proxy on this machine reaches 127.0.0.1.",
                options.listen);
  options.require_keys = true;
  return {};
}

}  // namespace weft::cli
