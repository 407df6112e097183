#include "apps/cli/command_line/completion.h"

#include <optional>

#include <CLI/CLI.hpp>

#include "apps/cli/command_line/option_kind.h"
#include "common/base/format.h"

namespace weft::cli {
namespace {

// A command with the data that the scripts need.
struct Command {
  struct Option {
    std::vector<std::string> names;  // All names, with their dashes.
    OptionKind kind;
  };
  std::string path;  // "wallet show"; empty for the program itself.
  std::string below;
  std::vector<Option> options;
  std::optional<OptionKind> argument;  // Kind of the first positional argument.

  [[nodiscard]] std::string flags() const {
    std::string out;
    for (const Option& option : options) out += (out.empty() ? "" : " ") + option.names.back();
    return out;
  }
};

void collect(const CLI::App& app, const std::string& path, std::vector<Command>& out) {
  Command command{.path = path, .below = {}, .options = {}, .argument = {}};
  for (const CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (below->get_group().empty()) continue;  // A command without a group is hidden.
    command.below += (command.below.empty() ? "" : " ") + below->get_name();
    collect(*below, path.empty() ? below->get_name() : path + " " + below->get_name(), out);
  }
  for (const CLI::Option* option : app.get_options([](const CLI::Option*) { return true; })) {
    const OptionKind kind = OptionKind::of(*option);
    if (option->get_positional()) {
      if (!command.argument) command.argument = kind;
      continue;
    }
    Command::Option& row = command.options.emplace_back(Command::Option{.names = {}, .kind = kind});
    for (const std::string& name : option->get_snames()) row.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) row.names.push_back("--" + name);
  }
  out.push_back(std::move(command));
}

std::string joined(const std::vector<std::string>& words) { return CLI::detail::join(words, " "); }

// The kind of completion of a value: "file", "folder", "words a b", "nothing"; empty for a flag,
// which has no value.
std::string takes(const OptionKind& kind) {
  switch (kind.what) {
    case OptionKind::What::flag:
      return "";
    case OptionKind::What::file:
      return "file";
    case OptionKind::What::folder:
      return "folder";
    case OptionKind::What::one_of:
      return "words " + joined(kind.values);
    default:
      return "nothing";
  }
}

// The part that bash and zsh share: functions that look up the data of the words before the
// completed one.
std::string tables(const std::vector<Command>& commands) {
  std::string known, values, below;
  for (const Command& command : commands) {
    if (!command.path.empty())
      known += weft::format("{}'{}'", known.empty() ? "" : " | ", command.path);
    std::string argument = command.argument ? takes(*command.argument) : "";
    if (argument == "nothing") argument.clear();
    below += weft::format("    '{}') below='{}' flags='{}' argument='{}' ;;\n", command.path,
                          command.below, command.flags(), argument);
    for (const Command::Option& option : command.options) {
      if (option.kind.what == OptionKind::What::flag) continue;
      std::string names;
      for (const std::string& name : option.names)
        names += weft::format("{}'{} {}'", names.empty() ? "" : " | ", command.path, name);
      values += weft::format("    {}) takes='{}' ;;\n", names, takes(option.kind));
    }
  }
  return weft::format(R"(_weft_takes() {{
  takes=
  case $1 in
{}  esac
}}
_weft_command() {{
  below= flags= argument=
  case $1 in
{}  esac
}}
_weft_look() {{
  local next
  at= given= takes=
  while [ $# -gt 0 ]; do
    next="${{at:+$at }}$1"
    case $next in
      {}) at=$next; shift; continue ;;
    esac
    case $1 in
      -*)
        _weft_takes "$at $1"
        shift
        [ "${{1-}}" = '=' ] && shift
        if [ -n "$takes" ] && [ $# -gt 0 ]; then takes=; shift; fi ;;
      *) given=1; shift ;;
    esac
  done
  [ -n "$takes" ] && return
  _weft_command "$at"
  takes="words $flags"
  case $current in
    -*) ;;
    *)
      if [ -n "$below" ]; then takes="words $below"
      elif [ -z "$given" ] && [ -n "$argument" ]; then takes=$argument
      fi ;;
  esac
}}
)",
                      values, below, known);
}

std::string bash(const std::vector<Command>& commands) {
  return tables(commands) + R"(_weft() {
  local current=${COMP_WORDS[COMP_CWORD]} at given takes below flags argument
  [ "$current" = '=' ] && current=
  _weft_look "${COMP_WORDS[@]:1:COMP_CWORD-1}"
  COMPREPLY=()
  case $takes in
    file) compopt -o filenames 2> /dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    folder) compopt -o filenames 2> /dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
    words\ *) mapfile -t COMPREPLY < <(compgen -W "${takes#words }" -- "$current") ;;
  esac
}
complete -F _weft weft ./weft
)";
}

std::string zsh(const std::vector<Command>& commands) {
  return tables(commands) + R"(_weft() {
  local current=$PREFIX at given takes below flags argument
  case $current in
    --*=*) compset -P '*='; _weft_look "${(@)words[2,CURRENT-1]}" "${current%%=*}" ;;
    *) _weft_look "${(@)words[2,CURRENT-1]}" ;;
  esac
  case $takes in
    file) _files ;;
    folder) _files -/ ;;
    words\ *) compadd -- ${=takes#words } ;;
  esac
}
whence compdef > /dev/null || { autoload -Uz compinit && compinit }
compdef _weft weft ./weft
)";
}

std::string fish(const std::vector<Command>& commands) {
  const auto value = [](const OptionKind& kind, std::string_view file) -> std::string {
    switch (kind.what) {
      case OptionKind::What::flag:
        return "";
      case OptionKind::What::file:
        return std::string(file);
      case OptionKind::What::folder:
        return " -x -a '(__fish_complete_directories)'";
      case OptionKind::What::one_of:
        return weft::format(" -x -a '{}'", joined(kind.values));
      default:
        return " -x";
    }
  };
  std::string known, lines;
  for (const Command& command : commands) {
    if (!command.path.empty()) known += weft::format(" '{}'", command.path);
    const std::string line = weft::format("complete -c weft -n \"__weft_at '{}'\"", command.path);
    if (!command.below.empty()) lines += weft::format("{} -a '{}'\n", line, command.below);
    for (const Command::Option& option : command.options) {
      lines += line;
      for (const std::string& name : option.names)
        lines += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      lines += value(option.kind, " -r -F") + "\n";
    }
    if (!command.argument) continue;
    if (command.argument->what == OptionKind::What::file) lines += line + " -F\n";
    if (command.argument->what == OptionKind::What::folder)
      lines += line + " -a '(__fish_complete_directories)'\n";
    if (command.argument->what == OptionKind::What::one_of)
      lines += weft::format("{} -a '{}'\n", line, joined(command.argument->values));
  }
  return weft::format(R"(set -g __weft_commands{}
function __weft_at
  set -l at
  for word in (commandline -opc)[2..]
    set -l next (string join ' ' -- $at $word)
    contains -- "$next" $__weft_commands; and set at "$next"
  end
  test "$at" = "$argv[1]"
end
complete -c weft -e
complete -c weft -f
{})",
                      known, lines);
}

}  // namespace

Result<std::string> completion_script(const CLI::App& app, const std::string& shell) {
  std::vector<Command> commands;
  collect(app, "", commands);
  if (shell == "bash") return bash(commands);
  if (shell == "zsh") return zsh(commands);
  if (shell == "fish") return fish(commands);
  return fail(ErrorCode::invalid_argument,
              "Weft has no completion script for the shell '{}': only for bash, zsh and fish.",
              shell);
}

}  // namespace weft::cli
