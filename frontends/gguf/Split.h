// Models in several files: NAME-00001-of-0000N.gguf, each a GGUF file with split.no and
// split.count; the first holds the metadata.
#pragma once
#include "frontends/gguf/Parse.h"

namespace vetro::gguf {

/// Paths of all shards of a model opened at `path` whose head is `head`; just `path` for a model
/// in one file. Fails where `path` is not the first shard or does not end in -00001-of-0000N.gguf,
/// and where a shard is missing.
llvm::Expected<std::vector<std::string>> shardPaths(llvm::StringRef path, const Head &head);

/// Checks that the head of shard `number` of `count` (from 0) says the same of itself.
llvm::Error checkShard(llvm::StringRef path, const Head &head, uint64_t number, uint64_t count);

/// Checks the total of tensors against split.tensors.count of the first shard, where it is given.
llvm::Error checkTensorCount(llvm::StringRef path, const Head &first, uint64_t found);

} // namespace vetro::gguf
