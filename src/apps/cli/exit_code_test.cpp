#include "apps/cli/exit_code.h"

#include <gtest/gtest.h>

namespace weft::cli {
namespace {

TEST(Report, ShowsControlCharactersOfWhatACoordinatorSaidInsteadOfObeyingThem) {
  testing::internal::CaptureStderr();
  EXPECT_NE(report("run", {ErrorCode::invalid_argument, "3:1: a\x1b[2J\r\n\tsecond line"}), 0);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "weft run: 3:1: a\\x1b[2J\\x0d\n\tsecond line\n");
}

}  // namespace
}  // namespace weft::cli
