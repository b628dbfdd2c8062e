// One line about a command line that cannot be read.
#include "runtime/cli/Usage.h"
#include "runtime/cli/Output.h"

#include "llvm/ADT/StringExtras.h"

namespace vetro::cli {

/// The candidate with the fewest edits to `word`, if it is near; else empty.
static std::string nearest(llvm::StringRef word, const std::vector<std::string> &candidates) {
  unsigned best = std::max<unsigned>(1, unsigned(word.size()) / 3) + 1;
  std::string found;
  for (const std::string &candidate : candidates)
    if (unsigned d = word.edit_distance(candidate, true, best); d < best) {
      best = d;
      found = candidate;
    }
  return found;
}

static std::vector<std::string> optionNames(const CLI::App &command) {
  std::vector<std::string> names;
  for (const CLI::Option *option : command.get_options()) {
    for (const std::string &name : option->get_lnames())
      names.push_back("--" + name);
    for (const std::string &name : option->get_snames())
      names.push_back("-" + name);
  }
  return names;
}

static std::vector<std::string> subcommandNames(const CLI::App &program) {
  std::vector<std::string> names;
  for (const CLI::App *command : program.get_subcommands([](const CLI::App *) { return true; }))
    names.push_back(command->get_name());
  return names;
}

static std::string joined(const std::vector<std::string> &words) {
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "" : ", ") + word;
  return text;
}

static std::string unknownSubcommand(const CLI::App &program, int argc, char **argv) {
  std::vector<std::string> names = subcommandNames(program);
  if (argc < 2)
    return "expected a subcommand: " + joined(names) + "; see 'vetro --help'";
  llvm::StringRef word = argv[1];
  bool isOption = word.starts_with("-");
  std::string near = nearest(word, isOption ? optionNames(program) : names);
  if (near.empty() && !isOption)
    near = nearest("--" + word.str(), optionNames(program)); // help, version
  return (isOption ? "unknown option " : "unknown subcommand ") + quotedText(word) +
         (near.empty() ? ", expected one of: " + joined(names) : "; did you mean " + near + "?") +
         " (see 'vetro --help')";
}

/// The arguments that no option took; the first that looks like an option is the culprit.
static std::string unknownArgument(const CLI::App &command) {
  std::vector<std::string> rest = command.remaining();
  auto isOption = [](const std::string &s) { return s.size() > 1 && s[0] == '-'; };
  auto it = std::find_if(rest.begin(), rest.end(), isOption);
  if (it == rest.end())
    return "unexpected argument " + quotedText(rest.front());
  std::string name = it->substr(0, it->find('='));
  std::string near = nearest(name, optionNames(command));
  return "unknown option " + quotedText(name) +
         (near.empty() ? "" : "; did you mean " + near + "?");
}

int reportParse(const CLI::App &program, const CLI::ParseError &error, int argc, char **argv) {
  if (error.get_exit_code() == 0)
    return program.exit(error);
  std::vector<CLI::App *> parsed = program.get_subcommands();
  if (parsed.empty())
    return fail(unknownSubcommand(program, argc, argv));
  const CLI::App &command = *parsed.front();
  std::string what = error.what();
  // An unknown option is the cause, whatever the parser missed because of it.
  bool isValue = dynamic_cast<const CLI::ValidationError *>(&error) ||
                 dynamic_cast<const CLI::ConversionError *>(&error);
  if (!isValue && !command.remaining().empty())
    what = unknownArgument(command);
  else if (what.size() > 1 && !llvm::isUpper(what[1])) // not of MODEL
    what[0] = llvm::toLower(what[0]);
  return fail(command.get_name() + ": " + what + " (see 'vetro " + command.get_name() +
              " --help')");
}

} // namespace vetro::cli
