// The options of the sampler chain.
#pragma once

#include "runtime/cli/Command.h"
#include "runtime/sampling/Chain.h"

namespace vetro::cli {

/// Adds --temp, --top-k, --top-p, --min-p, --repeat-penalty, ..., --logit-bias and --seed. A wrong
/// --logit-bias is a usage error; ranges are checked by Chain::create.
void addSamplingOptions(CLI::App &command, SamplingOptions &options);

} // namespace vetro::cli
