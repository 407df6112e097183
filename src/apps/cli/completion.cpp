#include "apps/cli/completion.h"

#include <format>

#include <CLI/CLI.hpp>

namespace weft::cli {
namespace {

struct CommandWords {
  std::string path;  // "wallet show"; empty for the program itself.
  std::string words;
};

void collect(const CLI::App& app, const std::string& path, std::vector<CommandWords>& out) {
  std::string words;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_group().empty()) continue;  // Hidden.
    words += command->get_name() + " ";
    collect(*command, path.empty() ? command->get_name() : path + " " + command->get_name(), out);
  }
  for (const CLI::Option* option : app.get_options([](const CLI::Option*) { return true; })) {
    for (const std::string& name : option->get_lnames()) words += "--" + name + " ";
  }
  out.push_back({path, words});
}

std::string bash(const std::vector<CommandWords>& commands) {
  std::string cases;
  for (const CommandWords& command : commands) cases += std::format("    '{}') words='{}' ;;\n", command.path, command.words);
  return std::format(R"(_weft() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} path= word words= i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${{COMP_WORDS[i]}}
    case $word in -*) ;; *) [ "$i" -le 2 ] && path=${{path:+$path }}$word ;; esac
  done
  case $path in
{}    *) path=${{path%% *}} ;;
  esac
  if [ -z "$words" ]; then
    case $path in
{}    esac
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  [ ${{#COMPREPLY[@]}} -gt 0 ] || mapfile -t COMPREPLY < <(compgen -f -- "$current")
}}
complete -o filenames -F _weft weft ./weft
)",
                     cases, cases);
}

std::string fish(const std::vector<CommandWords>& commands) {
  std::string text = "complete -c weft -e\n";
  for (const CommandWords& command : commands) {
    std::istringstream words(command.words);
    for (std::string word; words >> word;) {
      const std::string condition = command.path.empty() ? "__fish_use_subcommand" : "__fish_seen_subcommand_from " + command.path;
      text += word.starts_with("--") ? std::format("complete -c weft -n '{}' -l {}\n", condition, word.substr(2))
                                     : std::format("complete -c weft -n '{}' -a {}\n", condition, word);
    }
  }
  return text;
}

}  // namespace

Result<std::string> completion_script(const CLI::App& app, const std::string& shell) {
  std::vector<CommandWords> commands;
  collect(app, "", commands);
  if (shell == "bash") return bash(commands);
  if (shell == "zsh") return "autoload -U +X bashcompinit && bashcompinit\n" + bash(commands);
  if (shell == "fish") return fish(commands);
  return fail(ErrorCode::invalid_argument, "No completion for the shell '{}'; there is one for bash, zsh and fish.", shell);
}

}  // namespace weft::cli
