// vetro completion: a script that lets a shell complete subcommands and options, made from them.
#include "runtime/cli/Command.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace vetro::cli {

namespace {
/// One option as a shell sees it.
struct ShellOption {
  std::vector<std::string> names; ///< "--temp", "-c"
  std::string description;
  bool takesValue;
  std::vector<std::string> choices; ///< the values it takes, if they are few
};
struct ShellCommand {
  std::string name, description;
  std::vector<ShellOption> options;
  std::vector<std::string> firstWords; ///< that may follow its name; empty: a file
};
} // namespace

/// Removes what would end a quoted string of a shell.
static std::string plain(std::string text) {
  llvm::erase_if(text, [](char c) { return c == '\'' || c == '[' || c == ']' || c == '`'; });
  return text;
}

/// "TEXT:{f16,f32}" -> f16, f32.
static std::vector<std::string> choices(const CLI::Option &option) {
  std::string type = option.get_type_name();
  auto [before, after] = llvm::StringRef(type).split('{');
  llvm::SmallVector<llvm::StringRef> items;
  after.split('}').first.split(items, ',', -1, /*KeepEmpty=*/false);
  return {items.begin(), items.end()};
}

static ShellOption shellOption(const CLI::Option &option) {
  ShellOption o{{}, plain(option.get_description()), option.get_items_expected_max() > 0, {}};
  for (const std::string &name : option.get_lnames())
    o.names.push_back("--" + name);
  for (const std::string &name : option.get_snames())
    o.names.push_back("-" + name);
  o.choices = choices(option);
  return o;
}

static std::vector<ShellCommand> shellCommands(const CLI::App &program) {
  std::vector<ShellCommand> commands;
  for (const CLI::App *c : program.get_subcommands([](const CLI::App *) { return true; })) {
    ShellCommand command{c->get_name(), plain(c->get_description()), {}, {}};
    bool first = true;
    for (const CLI::Option *option : c->get_options())
      if (option->nonpositional())
        command.options.push_back(shellOption(*option));
      else if (std::exchange(first, false))
        command.firstWords = choices(*option);
    commands.push_back(std::move(command));
  }
  return commands;
}

static std::string joined(const std::vector<std::string> &words, const std::string &between = " ") {
  return llvm::join(words, between);
}

static void printBash(const std::vector<ShellCommand> &commands) {
  llvm::raw_ostream &out = llvm::outs();
  out << "# bash completion of vetro: source <(vetro completion bash)\n"
         "_vetro() {\n  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
         "  local words=''\n  COMPREPLY=()\n  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    words='";
  for (const ShellCommand &c : commands)
    out << c.name << " ";
  out << "--help --version'\n  else\n    case \"${COMP_WORDS[1]}:$before\" in\n";
  for (const ShellCommand &c : commands)
    if (!c.firstWords.empty())
      out << "    " << c.name << ":" << c.name << ") words='" << joined(c.firstWords) << "' ;;\n";
  for (const ShellCommand &c : commands)
    for (const ShellOption &o : c.options)
      if (!o.choices.empty())
        out << "    " << c.name << ":" << joined(o.names, "|" + c.name + ":") << ") words='"
            << joined(o.choices) << "' ;;\n";
  out << "    *) [[ $word == -* ]] && case \"${COMP_WORDS[1]}\" in\n";
  for (const ShellCommand &c : commands) {
    out << "      " << c.name << ") words='";
    for (const ShellOption &o : c.options)
      out << joined(o.names) << " ";
    out << "' ;;\n";
  }
  out << "      esac ;;\n    esac\n  fi\n  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n}\n"
         "complete -o default -F _vetro vetro\n";
}

static void printZsh(const std::vector<ShellCommand> &commands) {
  llvm::raw_ostream &out = llvm::outs();
  out << "#compdef vetro\n# zsh completion of vetro: source <(vetro completion zsh)\n"
         "_vetro() {\n  if (( CURRENT == 2 )); then\n    local -a commands=(\n";
  for (const ShellCommand &c : commands)
    out << "      '" << c.name << ":" << c.description << "'\n";
  out << "    )\n    _describe subcommand commands\n    return\n  fi\n"
         "  local command=${words[2]}\n  shift words; (( CURRENT-- ))\n  case $command in\n";
  for (const ShellCommand &c : commands) {
    out << "  " << c.name << ") _arguments ";
    if (!c.firstWords.empty())
      out << "'1:word:(" << joined(c.firstWords) << ")' ";
    out << "'*:file:_files'";
    for (const ShellOption &o : c.options)
      for (const std::string &name : o.names) {
        out << " \\\n    '" << name << "[" << o.description << "]";
        if (o.takesValue)
          out << ":value:" << (o.choices.empty() ? "_files" : "(" + joined(o.choices) + ")");
        out << "'";
      }
    out << " ;;\n";
  }
  out << "  esac\n}\ncompdef _vetro vetro\n";
}

static void printFish(const std::vector<ShellCommand> &commands) {
  llvm::raw_ostream &out = llvm::outs();
  out << "# fish completion of vetro: vetro completion fish | source\n";
  for (const ShellCommand &c : commands) {
    out << "complete -c vetro -n __fish_use_subcommand -f -a " << c.name << " -d '" << c.description
        << "'\n";
    if (!c.firstWords.empty())
      out << "complete -c vetro -n '__fish_seen_subcommand_from " << c.name << "' -f -a '"
          << joined(c.firstWords) << "'\n";
    for (const ShellOption &o : c.options) {
      out << "complete -c vetro -n '__fish_seen_subcommand_from " << c.name << "'";
      for (const std::string &name : o.names)
        out << (name.size() == 2 ? " -s " : " -l ") << llvm::StringRef(name).ltrim('-');
      out << " -d '" << o.description << "'" << (o.takesValue ? " -r" : "");
      if (!o.choices.empty())
        out << " -f -a '" << joined(o.choices) << "'";
      out << "\n";
    }
  }
}

void addCompletion(CLI::App &program, int &exitCode) {
  auto shell = std::make_shared<std::string>();
  CLI::App *command = program.add_subcommand("completion", "a script for a shell's tab completion");
  command->add_option("SHELL", *shell, "the shell")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer("Examples:\n"
                  "  source <(vetro completion bash)\n"
                  "  vetro completion fish > ~/.config/fish/completions/vetro.fish");
  command->callback([shell, &program, &exitCode] {
    std::vector<ShellCommand> commands = shellCommands(program);
    if (*shell == "bash")
      printBash(commands);
    else if (*shell == "zsh")
      printZsh(commands);
    else
      printFish(commands);
    exitCode = Done;
  });
}

} // namespace vetro::cli
