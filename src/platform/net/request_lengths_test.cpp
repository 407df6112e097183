// However the bytes of a connection are cut, a request with two lengths is found, and no byte of a
// body is taken for a head.
#include "platform/net/request_lengths.h"

#include <gtest/gtest.h>

namespace weft::net {
namespace {

// Feeds the bytes in pieces of `piece` bytes.
std::optional<std::string> look(std::string_view bytes, std::size_t piece) {
  RequestLengths lengths;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    if (auto problem = lengths.take(bytes.substr(at, piece))) return problem->error.message;
  }
  return std::nullopt;
}

struct Row {
  std::string bytes;
  std::string sentence;  // Empty: no error is expected.
};
class RequestLengthsTable : public testing::TestWithParam<Row> {};

const std::string differ = "The request has two Content-Lengths that differ: 5 and 6.";
const std::string no_number = "The Content-Length of the request is not a number.";
const std::string both =
    "The request has a Content-Length and a Transfer-Encoding; only one of them says how long it "
    "is.";
const std::string too_early =
    "The client sends bytes after its request for a WebSocket, before the request is answered.";
const std::string no_request =
    "The bytes do not begin an HTTP request (if they are TLS: this port does not use it).";
const std::string inside = "POST / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n";
const std::string get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

const Row rows[] = {
    {get, ""},
    {"\x16\x03\x01 a handshake of TLS", no_request},
    {get + "{}", no_request},
    {inside, differ},
    {"\r\n" + get + get + inside, differ},
    {"POST / HTTP/1.1\r\ncontent-length:5\r\nHost: x\r\nCONTENT-LENGTH: \t6 \r\n\r\n", differ},
    {"POST / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 05\r\n\r\nhello" + get, ""},
    {"POST / HTTP/1.1\r\nContent-Length: 5, 6\r\n\r\n", no_number},
    {"POST / HTTP/1.1\r\nContent-Length: +5\r\n\r\n", no_number},
    {"POST / HTTP/1.1\r\nContent-Length: -5\r\n\r\n", no_number},
    {"POST / HTTP/1.1\r\nContent-Length:\r\n\r\n", no_number},
    {"POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", no_number},
    {"POST / HTTP/1.1\r\nContent-Length : 5\r\n\r\n", no_number},
    {"PUT / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", both},
    {"PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n", both},
    // The bytes of bodies are not parsed, and bodies end after their length.
    {"POST / HTTP/1.1\r\nContent-Length: " + std::to_string(inside.size()) + "\r\n\r\n" + inside +
         get,
     ""},
    {"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc" + inside, differ},
    {"PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n39;x=y\r\n" + inside +
         "\r\n0\r\nTrailer: x\r\n\r\n" + get,
     ""},
    {"PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n" + inside, differ},
    // A line feed without CR does not end a line, and a long line is one line.
    {"GET / HTTP/1.1\r\nX: a\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", ""},
    {"GET / HTTP/1.1\r\nX: " + std::string(20'000, 'a') +
         "\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
     differ},
    {"GET / HTTP/1.1\r\nUpgrade: WebSocket\r\n\r\n" + inside, too_early},
    {"POST / HTTP/1.1\r\nUpgrade: WebSocket\r\nContent-Length: 3\r\n\r\nabc" + inside, differ},
};
INSTANTIATE_TEST_SUITE_P(Table, RequestLengthsTable, testing::ValuesIn(rows));

TEST_P(RequestLengthsTable, IsRightInWhateverPieces) {
  ASSERT_EQ(inside.size(), 0x39u);
  for (const std::size_t piece : {1u, 2u, 3u, 7u, 64u, 100'000u}) {
    EXPECT_EQ(look(GetParam().bytes, piece).value_or(""), GetParam().sentence)
        << "pieces of " << piece << " of " << GetParam().bytes.substr(0, 200);
  }
}

TEST(RequestLengths, LooksAtNothingBehindARefusal) {
  RequestLengths lengths;
  EXPECT_TRUE(lengths.take(inside).has_value());
  EXPECT_FALSE(lengths.take(inside).has_value());
}

// If an upgrade is not answered with 101, the connection still speaks HTTP, and the lengths of
// later requests are checked again.
TEST(RequestLengths, LooksOnWhereAnUpgradeDidNotHappen) {
  const std::string upgrade = "GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n";
  RequestLengths lengths;
  ASSERT_FALSE(lengths.take(upgrade).has_value());
  ASSERT_TRUE(lengths.is_upgrading());
  lengths.resume();

  EXPECT_EQ(lengths.take(inside)->error.message, differ);

  RequestLengths without({.after_upgrade = false});
  ASSERT_FALSE(without.take(upgrade).has_value());
  EXPECT_FALSE(without.take(inside).has_value()) << "the attack, with the defence off";
}

TEST(RequestLengths, BoundsAHead) {
  const std::string head = "GET / HTTP/1.1\r\nX: " + std::string(2000, 'a');
  RequestLengths bounded({.head_bytes_max = 1024});

  const auto refused = bounded.take(head);

  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->status, 431);
  RequestLengths without;
  EXPECT_FALSE(without.take(head).has_value()) << "the attack, with the defence off";
}

TEST(RequestLengths, ShowsAHeadBeforeItsBody) {
  std::vector<RequestHead> heads;
  RequestLengths lengths({.judge = [&](const RequestHead& head) -> std::optional<HeadRefusal> {
    heads.push_back(head);
    return std::nullopt;
  }});

  ASSERT_FALSE(lengths
                   .take("POST /v1/jobs?x=1 HTTP/1.1\r\nHOST: a:1\r\nOrigin: http://b\r\n"
                         "Sec-Fetch-Site: cross-site\r\nContent-Type: text/plain\r\n"
                         "Weft-Client: C\r\nX-Forwarded-For: 1.2.3.4\r\nX-Forwarded-For: ::1\r\n"
                         "Content-Length: 5\r\n\r\nab")
                   .has_value());

  ASSERT_EQ(heads.size(), 1u);
  EXPECT_EQ(heads[0].method, "POST");
  EXPECT_EQ(heads[0].path(), "/v1/jobs");
  EXPECT_EQ(heads[0].host, "a:1");
  EXPECT_EQ(heads[0].origin, "http://b");
  EXPECT_EQ(heads[0].fetch_site, "cross-site");
  EXPECT_EQ(heads[0].content_type, "text/plain");
  EXPECT_EQ(heads[0].client, "C");
  EXPECT_EQ(heads[0].forwarded_for, "1.2.3.4,::1");
  EXPECT_EQ(heads[0].length, 5u);
  EXPECT_TRUE(lengths.is_in_body());
  EXPECT_EQ(lengths.body_bytes_left(), 3u);
}

}  // namespace
}  // namespace weft::net
