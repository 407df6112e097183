// Fuzzes HTTP: the result does not depend on how the socket cuts the bytes of a connection, on the
// server's side (heads, lengths, ends of bodies) and on the client's. Addresses, ranges and names
// of hosts are within their limits.
#include <optional>
#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/check.h"
#include "common/protocol/signing.h"
#include "platform/net/address.h"
#include "platform/net/address_ranges.h"
#include "platform/net/http.h"
#include "platform/net/request_lengths.h"
#include "platform/net/streamed_body.h"

using namespace weft;

namespace {

struct Heard {
  std::uint64_t heads = 0, bodies = 0;
  std::vector<std::string> targets{};
  int refused = 0;
  friend bool operator==(const Heard&, const Heard&) = default;
};

Heard heads_of(std::string_view bytes, std::size_t step) {
  Heard out;
  net::RequestLengths lengths(
      {.head_bytes_max = 400, .judge = [&](const net::RequestHead& head) {
         check(head.path().size() <= head.target.size(), "a path is a part of its target");
         out.targets.push_back(head.method + head.target + head.host + head.forwarded_for);
         return std::optional<net::HeadRefusal>();
       }});
  for (std::size_t at = 0; at < bytes.size() && out.refused == 0; at += step) {
    if (const auto refused = lengths.take(bytes.substr(at, step))) out.refused = refused->status;
  }
  out.heads = lengths.heads();
  out.bodies = lengths.bodies();
  check(out.bodies <= out.heads, "a body belongs to a head");
  return out;
}

struct Body {
  bool failed = false, ended = false;
  std::string text{};
  friend bool operator==(const Body&, const Body&) = default;
};

Body body_of(const net::Response& head, std::string_view bytes, std::size_t step) {
  auto body = net::StreamedBody::of(head);
  if (!body) return {.failed = true};
  Body out;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    const auto part = body->take(bytes.substr(at, step));
    if (!part) return {.failed = true};  // The text before a failed part does not count.
    out.text += *part;
  }
  out.ended = body->ended();
  out.failed = !body->close();
  return out;
}

void answers(std::string_view text) {
  constexpr std::string_view gap = "\r\n\r\n";
  const std::size_t end = text.find(gap);
  const auto head = net::read_answer_head(text.substr(0, end));
  if (!head || end == std::string_view::npos) return;
  check(head->status >= 100 && head->status <= 999, "a status has three digits");
  const std::string_view rest = text.substr(end + gap.size());
  check(body_of(*head, rest, rest.size() + 1) == body_of(*head, rest, 1),
        "a body does not depend on how the socket cuts it");
}

void addresses(const std::string& text) {
  const auto address = net::Address::parse(text);
  const std::string group = net::address_group(text);
  check(address.has_value() || group == text, "what is no address stands for itself");
  if (address && address->is_v4)
    check(net::Address::parse(group) == address, "an IPv4 address has one form");
  if (address) {
    (void)net::is_special(*address);
    (void)net::private_network_of(*address);
    (void)net::address_prefix(text);
  }
  const std::vector<std::string> trusted = {"127.0.0.1", "::1"};
  const std::string client = net::forwarded_address("127.0.0.1", text, trusted);
  check(client == "127.0.0.1" || net::Address::parse(client).has_value(),
        "the client of a proxy is an address");
  check(net::forwarded_address("192.0.2.1", text, trusted) == "192.0.2.1",
        "a stranger is no proxy");
  const std::string host = net::host_of(text);
  check(host.find_first_of("[]/ ") == std::string::npos, "a host is without brackets");
  (void)net::is_accepted_host(host, trusted);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 4096) return 0;  // The refusal of a longer line depends on how the socket cuts it.
  const std::string text(as_text(ByteSpan(data, size)));
  const Heard whole = heads_of(text, size + 1);
  check(whole == heads_of(text, 1), "heads do not depend on how the socket cuts them");
  check(whole == heads_of(text, 7), "nor on where");
  answers(text);
  addresses(text);
  constexpr std::uint64_t bytes = 1000;
  if (const auto range = net::parse_range(text, bytes); range && *range)
    check((*range)->count > 0 && (*range)->first < bytes &&
              (*range)->count <= bytes - (*range)->first,
          "a range lies within its file");
  (void)protocol::read_target(text);
  if (const auto url = net::Url::parse(text)) {
    const auto again = net::Url::parse(url->text());
    check(again && again->host == url->host && again->port == url->port && again->tls == url->tls,
          "a URL has one form");
  }
  return 0;
}
