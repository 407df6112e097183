#include "apps/bench/hostile/attacks.h"

#include "common/base/clock.h"
#include "common/base/format.h"
#include "common/base/ids.h"

namespace weft::coordinator::bench {
namespace {

std::string get(const std::string& host, const std::string& lines = "") {
  return "GET /v1/info HTTP/1.1\r\nhost: " + host + "\r\n" + lines + "\r\n";
}
std::string post_head(const std::string& host, const std::string& lines,
                      const std::string& path = "/v1/jobs") {
  return "POST " + path + " HTTP/1.1\r\nhost: " + host + "\r\ncontent-type: application/json\r\n" +
         lines + "\r\n";
}
// Headers of a forged signature. The key is valid (RFC 8032's base point), so that only the
// verification of the signature fails. The time in the headers becomes invalid after five minutes;
// after that the coordinator verifies no signature.
std::string forged_signature() {
  PublicKey key;
  key.bytes.fill(0x66);
  key.bytes[0] = 0x58;
  Signature signature;
  signature.bytes.fill(0x05);
  return weft::format(
      "weft-client: {}\r\nweft-nonce: {}\r\nweft-time: {}\r\nweft-signature: {}\r\n", key.text(),
      std::string(32, '7'), unix_now(), signature.text());
}
std::string upgrade(const std::string& host, const std::string& version = "13") {
  return "GET /v1/worker HTTP/1.1\r\nhost: " + host +
         "\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-key: "
         "dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: " +
         version + "\r\n\r\n";
}

}  // namespace

std::vector<Attack> attacks(const std::string& host) {
  using namespace std::string_literals;
  std::string many;
  for (int i = 0; i < 64; ++i) many += get(host);
  std::string allowed;
  for (int i = 0; i < 16; ++i) allowed += get(host);
  // A masked binary frame whose length is 2^40, given in 8 bytes (RFC 6455, 5.2).
  const std::string oversized = "\x82\xff\x00\x00\x01\x00\x00\x00\x00\x00mask"s;
  // A masked frame that announces 65,535 bytes and has three.
  const std::string unfinished = "\x82\xfe\xff\xffmaskfew"s;
  return {
      {.name = "silent"},
      {.name = "slow head", .opening = "GET /v1/info HTTP/1.1\r\nhost: ", .drip = "x"},
      // The route of completions accepts a body without a signature.
      {.name = "slow body",
       .opening = post_head(host, "content-length: 4000\r\n", "/v1/chat/completions"),
       .drip = " "},
      {.name = "slow signed body",
       .opening = post_head(host, forged_signature() + "content-length: 60000\r\n"),
       .drip = " "},
      {.name = "flood", .opening = get(host), .repeats = true},
      {.name = "pipelining", .opening = allowed, .repeats = true},
      {.name = "too many pipelined", .opening = many, .repeats = true},
      {.name = "large head",
       .opening = get(host, "x-padding: " + std::string(64 << 10, 'a') + "\r\n")},
      {.name = "two lengths",
       .opening = post_head(host, "content-length: 5\r\ncontent-length: 50\r\n") + "12345"},
      {.name = "chunked and a length",
       .opening =
           post_head(host, "content-length: 5\r\ntransfer-encoding: chunked\r\n") + "0\r\n\r\n"},
      {.name = "oversized frame", .opening = upgrade(host), .after_upgrade = oversized},
      {.name = "unfinished frame",
       .opening = upgrade(host),
       .after_upgrade = unfinished,
       .drip = "."},
      {.name = "forged upgrade", .opening = upgrade(host, "99")},
      {.name = "broken TLS",
       .opening = "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"s,
       .drip = "\xff"},
      {.name = "cross-site",
       .opening = post_head(host,
                            "origin: https://elsewhere.example\r\nsec-fetch-site: "
                            "cross-site\r\ncontent-length: 2\r\n") +
                  "{}",
       .repeats = true},
      {.name = "another host", .opening = get("elsewhere.example"), .repeats = true},
      {.name = "forged signature",
       .opening = post_head(host, forged_signature() + "content-length: 2\r\n") + "{}",
       .repeats = true},
      {.name = "unsigned job",
       .opening = post_head(host, "content-length: 2\r\n") + "{}",
       .repeats = true},
  };
}

Attack idle_connection(const std::string& host) { return {.name = "idle", .opening = get(host)}; }

}  // namespace weft::coordinator::bench
