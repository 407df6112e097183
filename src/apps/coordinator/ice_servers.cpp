#include "apps/coordinator/ice_servers.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "common/base/format.h"
#include "common/crypto/hmac.h"
#include "common/json/json.h"

namespace weft::coordinator {
namespace {

constexpr std::size_t servers_max = 16;
constexpr std::size_t urls_max = 16;
constexpr std::size_t bytes_max = std::size_t{64} << 10;

bool is_turn(std::string_view url) { return url.starts_with("turn:") || url.starts_with("turns:"); }

Result<std::string> url_of(const json::Value& value) {
  WEFT_ASSIGN(std::string url, value.string({.bytes_max = 256}));
  const auto colon = url.find(':');
  const std::string_view scheme = std::string_view(url).substr(0, colon);
  const bool good =
      colon != std::string::npos && colon + 1 < url.size() &&
      (scheme == "stun" || scheme == "stuns" || scheme == "turn" || scheme == "turns") &&
      !url.contains("//") && std::ranges::none_of(url, [](char c) {
        return static_cast<unsigned char>(c) <= ' ' || c == '"' || c == '@';
      });
  if (!good)
    return value.error(
        "\"{}\" is not a URL of a STUN or TURN server, such as "
        "turn:turn.example:3478?transport=udp",
        url);
  return url;
}

}  // namespace

Result<std::vector<std::string>> IceServers::urls_of(const json::Value& value) {
  std::vector<json::Value> items{value};
  if (value.kind() != json::Kind::string) {
    WEFT_ASSIGN(items, value.array({.count_max = urls_max}));
  }
  if (items.empty()) return value.error("must not be empty");
  std::vector<std::string> out;
  for (const json::Value& item : items) {
    WEFT_ASSIGN(out.emplace_back(), url_of(item));
  }
  return out;
}

Result<IceServers::Server> IceServers::read_server(const json::Value& item) {
  WEFT_ASSIGN(const json::Object object,
              item.object({"urls", "username", "credential", "secret", "hours"}));
  Server server;
  WEFT_ASSIGN(const json::Value urls, object.get("urls"));
  WEFT_ASSIGN(server.plain.urls, urls_of(urls));
  for (const auto& [key, into] :
       {std::pair("username", &server.plain.username),
        std::pair("credential", &server.plain.credential), std::pair("secret", &server.secret)}) {
    const auto value = object.find(key);
    if (!value) continue;
    WEFT_ASSIGN(*into, value->string({.bytes_max = 512}));
    if (into->empty()) return value->error("must not be empty");
  }
  const bool fixed = !server.plain.username.empty() || !server.plain.credential.empty();
  if (fixed && !server.secret.empty())
    return item.error("has a secret, and a username or credential that it would make");
  if (server.plain.username.empty() != server.plain.credential.empty())
    return item.error("needs username and credential together");
  const bool turn = std::ranges::any_of(server.plain.urls, is_turn);
  if (turn && !fixed && server.secret.empty())
    return item.error("names a TURN server, and neither a secret nor username and credential");
  if (!turn && (fixed || !server.secret.empty()))
    return item.error("names no TURN server, and STUN asks for no credential");
  constexpr std::uint64_t hours_max = 24 * 7;
  server.hours = 6;
  if (const auto hours = object.find("hours")) {
    if (server.secret.empty()) return hours->error("is for servers with a secret");
    WEFT_ASSIGN(const std::uint64_t number, hours->unsigned_integer(hours_max));
    if (number == 0) return hours->error("must be at least 1");
    server.hours = static_cast<std::int64_t>(number);
  }
  return server;
}

Result<IceServers> IceServers::parse(std::string_view text) {
  WEFT_ASSIGN(const json::Value root, json::parse(text, {.bytes_max = bytes_max}));
  WEFT_ASSIGN(const auto items, root.array({.count_max = servers_max}));
  IceServers out;
  for (const json::Value& item : items) {
    WEFT_ASSIGN(out.servers_.emplace_back(), read_server(item));
  }
  return out;
}

Result<IceServers> IceServers::read(const std::string& text) {
  if (text.empty()) return IceServers{};
  const auto begin = text.find_first_not_of(" \t\r\n");
  std::string json = text;
  std::string from = "--ice-servers";
  if (begin == std::string::npos || text[begin] != '[') {
    std::ifstream file(text, std::ios::binary);
    if (!file)
      return fail(ErrorCode::invalid_argument,
                  "--ice-servers {} is neither a JSON array nor a file that can be read.", text);
    json.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    from = text;
  }
  auto servers = parse(json);
  if (!servers) return pass(std::move(servers), "while reading {}", from);
  return servers;
}

std::vector<protocol::serving::IceServer> IceServers::issue(std::string_view worker, UnixMillis at,
                                                            For whom) const {
  std::vector<protocol::serving::IceServer> out;
  for (const Server& server : servers_) {
    const bool is_relay = !server.secret.empty() || !server.plain.credential.empty();
    if (is_relay && whom == For::stranger) continue;
    out.push_back(server.plain);
    if (server.secret.empty()) continue;
    auto& issued = out.back();
    issued.username = weft::format("{}:{}", at / 1000 + server.hours * 3600, worker);
    issued.credential =
        to_base64(crypto::hmac_sha1(as_bytes(server.secret), as_bytes(issued.username)));
  }
  return out;
}

}  // namespace weft::coordinator
