//===- Passes.td - graph to graph, one pass a file -------------------------------===//
#ifndef VETRO_PASSES_TD
#define VETRO_PASSES_TD

include "mlir/Pass/PassBase.td"

// Every pass can be switched off at a site and can say why it fired and why it did not.
class Vetro_Pass<string flag> : Pass<"vetro-" # flag, "::mlir::ModuleOp"> {
  list<Option> baseOptions = [
    ListOption<"disable", "disable", "std::string",
      "names of values (or prefixes of names that end before a dot, such as blk.3) at which this "
      "pass does nothing">,
    Option<"explain", "explain", "bool", "false",
      "emit a remark at each site: what was done, or why not">,
  ];
  let options = baseOptions;
}

def FuseRMSNorm : Vetro_Pass<"fuse-rms-norm"> {
  let summary = "rms_norm, mul -> rms_norm_mul; with a residual add -> rms_norm_mul_add";
  let description = [{
    Exact: the same operations in the same order, without a store between them.
  }];
}

def FuseQkv : Vetro_Pass<"fuse-qkv"> {
  let summary = "three matmuls of one x -> qkv_matmul";
  let description = [{
    Exact. The activation is quantised once and read in one pass. Refused where the three weights
    want different activation formats.
  }];
}

def FuseRope : Vetro_Pass<"fuse-rope"> {
  let summary = "[rms_norm_mul,] rope[, kv_store] -> norm_rope, norm_rope_store, with a shared rope_table";
  let description = [{
    Exact. Cosines and sines are computed once per micro-batch for all layers that rotate alike.
  }];
}

def FuseAttention : Vetro_Pass<"fuse-attention"> {
  let summary = "bmm, scale[, soft-cap], mask, softmax, bmm over the KV cache -> attention";
  let description = [{
    Reassociating: softmax is computed in chunks of 256 positions that are merged in order.
    Bound: the op's declared one.
  }];
}

def FuseGlu : Vetro_Pass<"fuse-glu"> {
  let summary = "two matmuls of one x, activation, mul -> glu";
  let description = [{ Exact but for the activation's exp or tanh, which is a polynomial. }];
}

def FuseResidual : Vetro_Pass<"fuse-residual"> {
  let summary = "matmul, add -> matmul_add";
  let description = [{ Exact. }];
}

def FuseHead : Vetro_Pass<"fuse-head"> {
  let summary = "gather_rows, rms_norm_mul -> head_norm";
  let description = [{ Exact. The final norm runs on the wanted rows only. }];
}

def SelectKernels : Vetro_Pass<"select-kernels"> {
  let summary = "gives each matmul its kernel, each weight its layout, each activation its format";
  let description = [{
    Approximating where a weight is quantised: its activation is rounded to int8 records, `a8` (an
    error of at most 1/254 of the largest of 32 values) or `a8x2` (1/64516). They serve all readers
    of a value that want this format; a norm, a gated unit or the head's norm writes them directly.
    Where the error shows most, in the head and in attention's inputs, the rules of
    `passes/KernelTable.cpp` take `a8x2`; switched off at a site, they take the cheapest.
  }];
  let options = baseOptions # [
    ListOption<"activations", "activations", "std::string",
      "REGEX=FORMAT: the activation format (f32, a8, a8x2) of the matmuls whose name the expression "
      "finds; the first that matches counts">,
  ];
}

def PlanMemory : Vetro_Pass<"plan-memory"> {
  let summary = "gives every value a buffer of the arena";
  let description = [{
    Linear scan in program order: a buffer is free again after the last step that reads it.
    Sets `vetro.buffers` (one number for each result) and the module's `vetro.num_buffers`.
    Reshapes share the buffer of what they reshape. Switched off at a site, the value there has a
    buffer that nothing else uses.
  }];
}

def Schedule : Vetro_Pass<"schedule"> {
  let summary = "marks the steps after which threads must wait for each other";
  let description = [{
    Sets `vetro.barrier` on the last step of each group of steps that do not depend on one another.
    Switched off at a site, the step there ends its group.
  }];
}

#endif
