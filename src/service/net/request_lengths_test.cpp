// Whatever way a connection's bytes come in pieces, a request with two lengths is found, and nothing in a body is taken for a head.
#include "service/net/request_lengths.h"

#include <gtest/gtest.h>

namespace weft::net {
namespace {

// In pieces of so many bytes.
std::optional<std::string> look(std::string_view bytes, std::size_t piece) {
  RequestLengths lengths;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    if (auto problem = lengths.take(bytes.substr(at, piece))) return problem;
  }
  return std::nullopt;
}

struct Row {
  std::string bytes;
  std::string sentence;  // Empty where there is nothing wrong.
};
class RequestLengthsTable : public testing::TestWithParam<Row> {};

const std::string differ = "The request has two Content-Lengths that differ: 5 and 6.";
const std::string no_number = "The Content-Length of the request is no number.";
const std::string both = "The request has a Content-Length and a Transfer-Encoding; only one of them says how long it is.";
const std::string inside = "POST / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n";
const std::string get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

const Row rows[] = {
    {get, ""},
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
    // Bodies are not looked into, and end where they should.
    {"POST / HTTP/1.1\r\nContent-Length: " + std::to_string(inside.size()) + "\r\n\r\n" + inside + get, ""},
    {"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc" + inside, differ},
    {"PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n39;x=y\r\n" + inside + "\r\n0\r\nTrailer: x\r\n\r\n" + get, ""},
    {"PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n" + inside, differ},
    // A line feed alone ends no line; a long line is a line.
    {"GET / HTTP/1.1\r\nX: a\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", ""},
    {"GET / HTTP/1.1\r\nX: " + std::string(20'000, 'a') + "\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", differ},
    {"GET / HTTP/1.1\r\nUpgrade: WebSocket\r\n\r\n" + inside, ""},
};
INSTANTIATE_TEST_SUITE_P(Table, RequestLengthsTable, testing::ValuesIn(rows));

TEST_P(RequestLengthsTable, IsRightInWhateverPieces) {
  ASSERT_EQ(inside.size(), 0x39u);
  for (const std::size_t piece : {1u, 2u, 3u, 7u, 64u, 100'000u}) {
    EXPECT_EQ(look(GetParam().bytes, piece).value_or(""), GetParam().sentence) << "pieces of " << piece << " of " << GetParam().bytes.substr(0, 200);
  }
}

TEST(RequestLengths, LooksAtNothingBehindARefusal) {
  RequestLengths lengths;
  EXPECT_TRUE(lengths.take(inside).has_value());
  EXPECT_FALSE(lengths.take(inside).has_value());
}

}  // namespace
}  // namespace weft::net
