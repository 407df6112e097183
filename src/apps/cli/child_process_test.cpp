// A child's lines and exit status are reported, and a program that does not exist is an error.
#include "apps/cli/child_process.h"

#include <gtest/gtest.h>

#include <memory>

#include <sys/wait.h>

#include "common/base/guarded.h"

namespace weft::cli {
namespace {

TEST(ChildProcess, HandsOverItsLinesAndItsStatus) {
  Guarded<std::string> lines;
  int status = 0;
  {
    auto child = ChildProcess::start(
        {.arguments = {"sh", "-c", "echo $WORD; echo two >&2; exit 3"},
         .environment = {"WORD=one"},
         .on_line = [&](std::string_view line) {
           lines.with([&](std::string& all) { all += std::string(line) + ";"; });
         }});
    ASSERT_TRUE(child.has_value()) << child.error().message;
    while ((*child)->running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    status = (*child)->stop(std::chrono::seconds(1));
  }

  EXPECT_EQ(lines.with([](std::string& all) { return all; }), "one;two;");
  EXPECT_EQ(WEXITSTATUS(status), 3);
}

TEST(ChildProcess, SaysThatAProgramIsNotThere) {
  const auto child =
      ChildProcess::start({.arguments = {"/nowhere/program"}, .environment = {}, .on_line = {}});

  ASSERT_FALSE(child.has_value());
  EXPECT_EQ(child.error().message, "Cannot start /nowhere/program: No such file or directory.");
}

}  // namespace
}  // namespace weft::cli
