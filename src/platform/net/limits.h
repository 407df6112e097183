// Bounds on the resources that strangers can take from one server before it knows who they are.
// Each field is one defence. 0 (or false) turns that defence off, which only tests do, to show that
// the attack then succeeds; no command-line option does. docs/security.md names the attack that
// each defence stops.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "common/base/clock.h"

namespace weft::net {

struct Limits {
  // Connections of all addresses, counted from accept() on, so that connections whose TLS handshake
  // never ends count too.
  std::size_t connections_max = 20'000;
  std::size_t descriptors_kept = 512;         // Descriptors left for files and child processes.
  std::size_t connections_per_address = 256;  // The most for one IPv4 address or one /64 of IPv6.
  // The largest part of all connections that one address may have, but at least address_least
  // connections. It matters if connections_max, or the process's own bound, is small.
  double address_share = 0.125;
  std::size_t address_least = 8;
  Duration handshake_max = std::chrono::seconds(10);
  // The share of all connections that is kept for known peers (Peer::recognise()). Unknown
  // connections may use it, but the oldest of them is closed if a new connection needs its place.
  double known_share = 0.25;
  // If true and no place is left, the address with the most connections of strangers loses a
  // connection.
  bool largest_gives_way = true;

  // A connection without a byte in either direction is closed after this time. It is long because a
  // language model's answer that is not streamed is silent until its last token. (Drogon would
  // remember every connection for as long, including those that ended.)
  Duration silent_max = std::chrono::minutes(10);

  // Bounds on requests.
  // Time limit of a head, from its first byte or from accept().
  Duration head_max = std::chrono::seconds(10);
  std::size_t head_bytes_max = std::size_t{32} << 10;
  // Time limit of a body, plus its length at the rate below.
  Duration body_max = std::chrono::seconds(30);
  std::uint64_t body_bytes_per_second = std::uint64_t{16} << 10;  // Least rate of a body, in bytes.
  bool bodies_by_route = true;  // The length of a body is bounded by its route.
  // Bytes of all bodies that are being received.
  std::uint64_t bodies_bytes_max = std::uint64_t{256} << 20;
  std::uint64_t bodies_bytes_per_address = std::uint64_t{128} << 20;
  bool signatures_first = true;  // The form of signature headers is checked before the body.
  std::size_t pipelined_max = 16;

  // Rates of all strangers together, if addresses have rates (Server::Options::rate_limit). The
  // address of a known peer (Peer::recognise()) or a known client keeps a whole rate of its own.
  double strangers_rates = 4;  // Rate of all strangers' requests, in rates of one address.
  // Refill rate of new addresses' first tokens, in rates of one address.
  double newcomers_rates = 4;
  double newcomers_network_share = 0.25;  // Share of new addresses' first tokens for one network.
  double newcomer_burst = 20;             // The least bucket size of a stranger's address.
  // New connections of all strangers together, in rates of one address. A connection costs one
  // token, four with TLS because of its handshake.
  double strangers_connections = 40;
  std::size_t addresses_per_client = 8;  // Addresses that one client can make known.
  // The number of refusals of an address that are answered at once; one more is every ten seconds.
  // Each further refusal waits twice as long as the refusal before it, up to `refusal_wait_max`.
  // The refused connection does nothing while it waits.
  std::size_t refusals_at_once = 8;
  Duration refusal_wait_max = std::chrono::seconds(30);

  // Checks of the request's Host and of the page that sent it.
  bool check_host = true;
  bool check_origin = true;
  bool json_only = true;  // The body of a POST must be application/json.
  bool lengths_after_upgrade = true;

  // Bounds on WebSockets that greet (SocketRoute::greets), until Peer::admit().
  Duration greeting_max = std::chrono::seconds(5);
  std::size_t greeting_bytes_max = 4096;
  std::size_t greeting_sockets_max = 512;

  // The space to keep free on the disk of the scratch folder. If less is free, new work is refused
  // with 503.
  std::uint64_t disk_bytes_kept = std::uint64_t{256} << 20;
};

}  // namespace weft::net
