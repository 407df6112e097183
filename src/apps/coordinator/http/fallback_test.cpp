// Tests of the fallback: the request that the other endpoint gets, and the mark in each document of
// its answers.
#include "apps/coordinator/http/fallback.h"

#include <gtest/gtest.h>

#include "apps/coordinator/http/asking.h"

namespace weft::coordinator {
namespace {

TEST(Fallback, IsSentTheRequestWithoutWhatOnlyWeftKnows) {
  EXPECT_EQ(without_terms(R"({"model":"m","max_price":5,"n":1.50,"fallback":"allow",)"
                          R"("deadline_ms":9,"messages":[{"fallback":"stays"}]})")
                .value(),
            R"({"model":"m","n":1.50,"messages":[{"fallback":"stays"}]})");
  EXPECT_FALSE(without_terms("[]"));
}

TEST(Fallback, MarksEachEventHoweverItsBytesAreCut) {
  const std::string events =
      ": hello\ndata: {\"a\":1}\n\nevent: x\ndata: {}\n\ndata: [DONE]\n\ndata: {\"b\":\"data: "
      "{\"}\n\n";
  const std::string marked =
      ": hello\ndata: {\"weft_fallback\":{},\"a\":1}\n\nevent: x\n"
      "data: {\"weft_fallback\":{}}\n\ndata: [DONE]\n\n"
      "data: {\"weft_fallback\":{},\"b\":\"data: {\"}\n\n";
  for (std::size_t size = 1; size <= events.size(); ++size) {
    EventMarker marker("{}");
    std::string out;
    for (std::size_t at = 0; at < events.size(); at += size)
      out += marker.take(std::string_view(events).substr(at, size));
    EXPECT_EQ(out + marker.finish(), marked) << size;
  }
}

// The attack: a client's text goes to another endpoint although the client, or the owner of its
// key, did not allow it.
TEST(Fallback, IsSentNothingThatMustStayHere) {
  const Asker client, guest{.is_guest = true}, stays{.stays_here = true};
  EXPECT_TRUE(may_pass_on(client, true));
  EXPECT_FALSE(may_pass_on(client, false));
  EXPECT_TRUE(may_pass_on(client, false, {.if_asked = false})) << "the attack";
  EXPECT_FALSE(may_pass_on(guest, true));
  EXPECT_TRUE(may_pass_on(guest, true, {.not_of_guests = false})) << "the attack";
  EXPECT_FALSE(may_pass_on(stays, true));
  EXPECT_TRUE(may_pass_on(stays, true, {.not_of_keys_that_stay = false})) << "the attack";
}

TEST(Fallback, MarksADocument) {
  EXPECT_EQ(marked_document(R"( {"a":1})", "1"), R"( {"weft_fallback":1,"a":1})");
  EXPECT_EQ(marked_document("{ }", "1"), R"({"weft_fallback":1 })");
  EXPECT_EQ(marked_document("<html>", "1"), "<html>");
  EXPECT_EQ(marked_document("", "1"), "");
}

}  // namespace
}  // namespace weft::coordinator
