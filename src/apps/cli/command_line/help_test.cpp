// The help keeps examples unchanged and omits empty defaults; an unknown command is named in the
// message.
#include "apps/cli/command_line/help.h"

#include <gtest/gtest.h>

namespace weft::cli {
namespace {

struct Program {
  CLI::App app{"Weaves.\n\n  weft one          an example\n  weft two", "weft"};
  std::vector<std::string> names;
  bool browser = true;
  Program() {
    app.formatter(help_formatter());
    app.require_subcommand(1);
    app.option_defaults()->always_capture_default();
    app.fallthrough();
    CLI::App* wallet = app.add_subcommand("wallet", "Keys\n\n  weft wallet show");
    wallet->require_subcommand(1);
    CLI::App* show = wallet->add_subcommand("show", "Shows it");
    show->add_option("--name", names, "Several");
    show->add_flag("!--no-browser", browser, "Without");
  }
  std::string refusal(const std::string& arguments) {
    try {
      app.parse(arguments);
    } catch (const CLI::RequiredError&) {
      return missing_command(app).value_or("");
    } catch (const CLI::ParseError&) {
      return "another error";
    }
    return "none";
  }
};

TEST(Help, KeepsExamplesAsTheyAreWritten) {
  EXPECT_TRUE(
      Program().app.help().starts_with("Weaves.\n\n  weft one          an example\n  weft two\n"))
      << Program().app.help();
}

TEST(Help, ListsCommandsWithoutTheirExamples) {
  EXPECT_FALSE(Program().app.help().contains("weft wallet show"));
}

TEST(Help, SaysNothingOfDefaultsThatAreNothing) {
  Program program;

  const std::string help = program.app.get_subcommand("wallet")->get_subcommand("show")->help();

  EXPECT_FALSE(help.contains("{")) << help;
}

TEST(Help, SaysWhatOptionsTake) {
  CLI::App app("Weaves.", "weft");
  app.formatter(help_formatter());
  app.option_defaults()->always_capture_default();
  unsigned slots = 16;
  unsigned bytes = 0;
  double share = 1;
  std::string device = "gpu";
  std::string file;
  app.add_option("--slots", slots, "a")->check(CLI::Range(1, 64));
  app.add_option("--bytes", bytes, "b")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 50));
  app.add_option("--share", share, "c")->check(CLI::Range(0.0, 3.0));
  app.add_option("--device", device, "d")->check(CLI::IsMember({"gpu", "cpu"}));
  app.add_option("--file", file, "e")->check(CLI::ExistingFile);

  const std::string help = app.help();

  for (const char* const line : {"--slots 1..64 [16]", "--bytes 1..1125899906842624 [0]",
                                 "--share 0..3 [1]", "--device {gpu,cpu} [gpu]", "--file FILE"})
    EXPECT_TRUE(help.contains(line)) << line << "\n" << help;
}

TEST(Help, NamesACommandThatDoesNotExist) {
  EXPECT_EQ(Program().refusal("frobnicate --all"),
            "There is no command \"frobnicate\"; see weft --help.");
  EXPECT_EQ(Program().refusal("wallet frobnicate"),
            "There is no command \"wallet frobnicate\"; see weft wallet --help.");
  EXPECT_EQ(Program().refusal("wallet"), "weft wallet needs a command; see weft wallet --help.");
  EXPECT_EQ(Program().refusal("--all"), "There is no option \"--all\"; see weft --help.");
  EXPECT_EQ(Program().refusal("wallet show"), "none");
}

}  // namespace
}  // namespace weft::cli
