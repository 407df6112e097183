// Answers are parsed as they arrive, however their bytes are cut.
#include "platform/net/streamed_body.h"

#include <gtest/gtest.h>

namespace weft::net {
namespace {

Response head(std::string_view text) { return read_answer_head(text).value(); }

// Returns the whole body of an answer that arrives in pieces of `size` bytes, and whether it ended.
std::pair<std::string, bool> body_of(const Response& response, std::string_view bytes,
                                     std::size_t size) {
  StreamedBody body = StreamedBody::of(response).value();
  std::string out;
  for (std::size_t at = 0; at < bytes.size(); at += size)
    out += body.take(bytes.substr(at, size)).value();
  return {out, body.ended()};
}

TEST(ReadAnswerHead, TakesStatusAndHeadersAndNothingThatIsNotHttp) {
  const Response read = head("HTTP/1.1 404 Not Found\r\nContent-Type: application/json \r\nX:");
  EXPECT_EQ(read.status, 404);
  EXPECT_EQ(read.headers.at("content-type"), "application/json");
  EXPECT_EQ(read.headers.at("x"), "");
  for (const char* const text : {"", "SSH-2.0-OpenSSH", "HTTP/1.1 abc x", "HTTP/2 200"})
    EXPECT_EQ(read_answer_head(text).error().code, ErrorCode::unsupported) << text;
}

TEST(StreamedBody, ReadsChunksHoweverTheyAreCut) {
  const Response chunked = head("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked");
  const std::string bytes = "5\r\nHello\r\n3;x=1\r\n\r\n!\r\n0\r\nTrailer: x\r\n\r\nmore";
  for (std::size_t size = 1; size <= bytes.size(); ++size)
    EXPECT_EQ(body_of(chunked, bytes, size), std::pair(std::string("Hello\r\n!"), true)) << size;
  EXPECT_FALSE(StreamedBody::of(chunked).value().take("x\r\n"));
  EXPECT_FALSE(StreamedBody::of(chunked).value().take(std::string(5000, '1')));
}

TEST(StreamedBody, ReadsAKnownLengthOrToTheEnd) {
  const Response five = head("HTTP/1.1 200 OK\r\nContent-Length: 5");
  EXPECT_EQ(body_of(five, "HelloWorld", 3), std::pair(std::string("Hello"), true));
  StreamedBody cut = StreamedBody::of(five).value();
  EXPECT_EQ(cut.take("Hell").value(), "Hell");
  EXPECT_EQ(cut.close().error().message, "The answer ended before it was complete.");

  StreamedBody open = StreamedBody::of(head("HTTP/1.1 200 OK")).value();
  EXPECT_EQ(open.take("Hello").value(), "Hello");
  EXPECT_FALSE(open.ended());
  EXPECT_TRUE(open.close());
  EXPECT_TRUE(open.ended());
}

}  // namespace
}  // namespace weft::net
