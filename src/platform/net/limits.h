// What one server takes of strangers before it knows who they are. Each field is one defence, and 0
// (or false) turns that one off: for tests, which see the attack succeed without it. No option of
// the command line does. docs/security.md names the attack against which each of them stands.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "common/base/clock.h"

namespace weft::net {

struct Limits {
  // Connections, counted from accept() on, so also those whose TLS handshake never ends.
  std::size_t connections_max = 20'000;
  std::size_t descriptors_kept = 512;         // Descriptors left for files and child processes.
  std::size_t connections_per_address = 256;  // IPv4: one address; IPv6: a /64.
  // Where connections_max, or what the process can hold of it, is small, one address has no more
  // than this part of it, and address_least at least.
  double address_share = 0.125;
  std::size_t address_least = 8;
  Duration handshake_max = std::chrono::seconds(10);
  // The share of all connections that is kept for known peers (Peer::recognise()): others are in it
  // until a new connection wants their place, and then the oldest of them goes.
  double known_share = 0.25;
  // Where no place is left, the address with the most strangers' connections gives one up.
  bool largest_gives_way = true;

  // A connection without a byte in either direction ends then. It is long because an answer of a
  // language model that is not streamed is silent until its last token. (Drogon would remember
  // every connection for as long, also those that ended.)
  Duration silent_max = std::chrono::minutes(10);

  // Requests.
  Duration head_max = std::chrono::seconds(10);  // From its first byte; also of the first one.
  std::size_t head_bytes_max = std::size_t{32} << 10;
  Duration body_max = std::chrono::seconds(30);  // To which is added what its bytes
  std::uint64_t body_bytes_per_second = std::uint64_t{16} << 10;  // take at this least rate.
  bool bodies_by_route = true;                                    // No body over its route's bound.
  std::uint64_t bodies_bytes_max = std::uint64_t{256} << 20;      // For all bodies under way.
  std::uint64_t bodies_bytes_per_address = std::uint64_t{128} << 20;
  bool signatures_first = true;  // The form of signature headers, before the body.
  std::size_t pipelined_max = 16;

  // Strangers together, where addresses have rates at all (Server::Options::rate_limit). Known
  // peers' addresses (Peer::recognise(), known clients) keep a whole rate each.
  double strangers_rates = 4;  // All strangers' requests have the rates of so many addresses,
  double newcomers_rates = 4;  // and what their addresses have at first is made up at so many.
  double newcomers_network_share = 0.25;  // One network has at most that part.
  double newcomer_burst = 20;             // A stranger's address holds so many tokens at least.
  // New connections of all of them, in rates: one token each, four with TLS for its handshake.
  double strangers_connections = 40;
  std::size_t addresses_per_client = 8;  // So many addresses of one client are known.
  // An address' refusals are answered at once so often, and once more every ten seconds; each
  // further one waits twice as long, up to `refusal_wait_max`. Its connection is as good as silent.
  std::size_t refusals_at_once = 8;
  Duration refusal_wait_max = std::chrono::seconds(30);

  // Checks of the name and the page that a request comes from.
  bool check_host = true;
  bool check_origin = true;
  bool json_only = true;  // Bodies of POST are application/json.
  bool lengths_after_upgrade = true;

  // WebSockets that greet (SocketRoute::greets), until Peer::admit().
  Duration greeting_max = std::chrono::seconds(5);
  std::size_t greeting_bytes_max = 4096;
  std::size_t greeting_sockets_max = 512;

  // What stays free on the disk of the scratch folder; below it no new work is taken (503).
  std::uint64_t disk_bytes_kept = std::uint64_t{256} << 20;
};

}  // namespace weft::net
