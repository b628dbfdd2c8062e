// Flags of the sampler chain.
#include "runtime/cli/Sampling.h"

namespace vetro::cli {

/// "42:-1.5" or "42:+2" or "42:-inf".
static bool parseBias(llvm::StringRef text, std::pair<int32_t, float> &bias) {
  auto [id, value] = text.split(':');
  value.consume_front("+");
  if (id.getAsInteger(10, bias.first))
    return false;
  if (value == "-inf") {
    bias.second = -INFINITY;
    return true;
  }
  double number;
  if (value.getAsDouble(number))
    return false;
  bias.second = float(number);
  return true;
}

void addSamplingOptions(CLI::App &command, SamplingOptions &o) {
  command.add_option("--temp", o.temperature, "temperature; 0: always the best token")
      ->capture_default_str();
  command.add_option("--top-k", o.topK, "keep the k best tokens; 0: all")
      ->check(range(0u, 1u << 30))
      ->capture_default_str();
  command.add_option("--top-p", o.topP, "keep the best tokens that hold this probability; 1: all")
      ->capture_default_str();
  command.add_option("--min-p", o.minP, "keep tokens with this share of the best one's; 0: all")
      ->capture_default_str();
  command
      .add_option("--repeat-penalty", o.repeatPenalty, "divides logits of recent tokens; 1: off")
      ->capture_default_str();
  command.add_option("--frequency-penalty", o.frequencyPenalty, "taken off per recent use; 0: off")
      ->capture_default_str();
  command.add_option("--presence-penalty", o.presencePenalty, "taken off once if used; 0: off")
      ->capture_default_str();
  command.add_option("--repeat-last-n", o.penaltyLastN, "tokens that count as recent")
      ->check(range(0u, 1u << 24))
      ->capture_default_str();
  command
      .add_option_function<std::vector<std::string>>(
          "--logit-bias",
          [&o](const std::vector<std::string> &items) {
            for (const std::string &item : items) {
              std::pair<int32_t, float> bias;
              if (!parseBias(item, bias))
                throw CLI::ValidationError(
                    "--logit-bias", "found '" + item + "', expected ID:+X, ID:-X or ID:-inf");
              o.logitBias.push_back(bias);
            }
          },
          "add X to a token's logit: ID:+X, ID:-X; ID:-inf bans it; may be repeated")
      ->allow_extra_args(false)
      ->type_name("ID:X");
  command.add_option("--seed", o.seed, "seed of the sampler")
      ->check(range<uint64_t>(0, UINT64_MAX))
      ->capture_default_str();
}

} // namespace vetro::cli
