// The plan: an ordered list of steps over numbered memory. Made by the compiler, kept in the object
// cache beside the machine code, walked by the plan runner. Plain data.
#pragma once

#include "runtime/abi/Format.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace vetro {

/// A number that depends on the batch: scale * nTokens^tokens * nOutputs^outputs * nCells^cells.
struct PlanExtent {
  uint64_t scale = 0;
  uint8_t tokens = 0, outputs = 0, cells = 0;

  uint64_t of(uint64_t nTokens, uint64_t nOutputs, uint64_t nCells) const {
    uint64_t n = scale;
    for (int i = 0; i < tokens; ++i)
      n *= nTokens;
    for (int i = 0; i < outputs; ++i)
      n *= nOutputs;
    for (int i = 0; i < cells; ++i)
      n *= nCells;
    return n;
  }
};

/// What lies at an operand's address.
enum class PlanTable : uint8_t { Weight, Buffer, State, Input };

struct PlanOperand {
  PlanTable table;
  uint32_t index; ///< into the plan's list of that kind; for inputs: an index of planInputs
};

/// Names of the batch's inputs, in the order of PlanOperand::index.
inline constexpr const char *planInputs[] = {"tokens",         "positions",     "sequences",
                                             "slots",          "outputs",       "cells",
                                             "cell_positions", "cell_sequences"};

struct PlanWeight {
  std::string name; ///< tensor name in the GGUF file
  Format format;
  std::string layout; ///< "rows16", or empty: f32 as it is
  uint64_t rows, width;
};

struct PlanState {
  std::string name;    ///< "blk.0.k_cache"
  std::string kind;    ///< "k" or "v"
  std::string element; ///< "f16", "f32"
  uint32_t heads, headDim;
};

/// One call of a compiled function by all threads, each on its range of units.
struct PlanStep {
  std::string name;                  ///< name of the value it computes, "blk.0.l_out"
  std::string op;                    ///< "matmul_add": what it is, for people
  std::string function;              ///< symbol in the object code; equal steps share one
  std::vector<PlanOperand> operands; ///< the op's operands, then its results
  PlanExtent units;                  ///< units of work
  PlanExtent scratch;                ///< bytes that each thread needs
  bool barrier = false;              ///< all threads wait for each other after it
};

/// A value that a step materialises, under its name.
struct PlanValue {
  std::string name;
  uint32_t step;
  uint32_t operand;   ///< which of the step's operands (its results come last)
  PlanExtent rows;    ///< rows in memory
  uint64_t width;     ///< elements per row; 0: one per cell
  std::string format; ///< "f32", "a8" or "a8x2"
};

struct Plan {
  std::vector<PlanWeight> weights;
  std::vector<PlanState> states;
  std::vector<PlanExtent> buffers; ///< bytes
  std::vector<PlanStep> steps;
  std::vector<PlanValue> values;
  uint32_t logitsBuffer = 0; ///< where the graph's result lies
  uint64_t nVocab = 0;
  std::vector<std::string> warnings; ///< what made the frontend wonder; for people
};

} // namespace vetro
