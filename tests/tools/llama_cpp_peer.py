"""llama.cpp as a peer: ids, logits and timings through its C interface.

Used by the golden files (ids are right when they are llama.cpp's) and by the side-by-side
benchmark. Needs the Python package llama-cpp-python, built from its source distribution with its
defaults, so that the build is the one a user gets (`tests/tools/requirements-golden.txt`).
"""

import time

import llama_cpp.llama_cpp as lib
import numpy

ERROR_LEVEL = 4  # ggml_log_level: 4 is error; everything below would fill the terminal


@lib.llama_log_callback
def _log_errors_only(level, text, _user_data):
    if level == ERROR_LEVEL:
        print(text.decode("utf-8", "replace"), end="", flush=True)


class LlamaCpp:
    """One model and, unless only its vocabulary is wanted, one context.

    flash_attn is 'auto', 'on' or 'off'; K and V are stored as F16, llama.cpp's default. Weights are
    read into memory, not mapped: a mapped and repacked model stalls and would be an unfair peer.
    """

    FLASH = {"auto": -1, "off": 0, "on": 1}

    def __init__(self, path, n_ctx=0, threads=1, flash_attn="auto", vocab_only=False, n_ubatch=512):
        lib.llama_log_set(_log_errors_only, None)
        lib.llama_backend_init()
        model_params = lib.llama_model_default_params()
        model_params.vocab_only = vocab_only
        model_params.load_mode = lib.LLAMA_LOAD_MODE_NONE
        self.model = lib.llama_model_load_from_file(str(path).encode(), model_params)
        if not self.model:
            raise RuntimeError(f"{path}: llama.cpp could not load this file")
        self.vocab = lib.llama_model_get_vocab(self.model)
        self.n_vocab = lib.llama_vocab_n_tokens(self.vocab)
        self.context = None
        if not vocab_only:
            self.context = self._make_context(n_ctx, threads, flash_attn, n_ubatch)

    def _make_context(self, n_ctx, threads, flash_attn, n_ubatch):
        params = lib.llama_context_default_params()
        params.n_ctx = n_ctx
        params.n_batch = max(n_ubatch, n_ctx)
        params.n_ubatch = n_ubatch
        params.n_threads = params.n_threads_batch = threads
        params.flash_attn_type = self.FLASH[flash_attn]
        context = lib.llama_init_from_model(self.model, params)
        if not context:
            raise RuntimeError("llama.cpp could not make a context")
        return context

    def close(self):
        if self.context:
            lib.llama_free(self.context)
        lib.llama_model_free(self.model)

    def tokenize(self, text, add_special, parse_special):
        """The ids of a str; special tokens are added and parsed only where asked."""
        data = text.encode("utf-8")
        room = len(data) + 8
        ids = (lib.llama_token * room)()
        count = lib.llama_tokenize(self.vocab, data, len(data), ids, room, add_special,
                                   parse_special)
        if count < 0:
            raise RuntimeError(f"llama.cpp wants room for {-count} ids, had {room}")
        return list(ids[:count])

    def clear(self):
        """Forgets all sequences."""
        lib.llama_memory_clear(lib.llama_get_memory(self.context), True)

    def _batch(self, ids, first, all_logits):
        batch = lib.llama_batch_init(len(ids), 0, 1)
        batch.n_tokens = len(ids)
        for index, token in enumerate(ids):
            batch.token[index] = token
            batch.pos[index] = first + index
            batch.n_seq_id[index] = 1
            batch.seq_id[index][0] = 0
            batch.logits[index] = all_logits or index == len(ids) - 1
        return batch

    def decode(self, ids, first, all_logits=False):
        """Runs `ids` at positions first, first+1 ...; returns the seconds of the call alone."""
        batch = self._batch(ids, first, all_logits)
        start = time.perf_counter()
        status = lib.llama_decode(self.context, batch)
        lib.llama_synchronize(self.context)
        seconds = time.perf_counter() - start
        lib.llama_batch_free(batch)
        if status != 0:
            raise RuntimeError(f"llama_decode answered {status}")
        return seconds

    def logits(self, ids):
        """Logits [len(ids), n_vocab] in F32 of one fresh sequence, in one batch."""
        self.clear()
        self.decode(ids, 0, all_logits=True)
        pointer = lib.llama_get_logits(self.context)
        return numpy.ctypeslib.as_array(pointer, shape=(len(ids), self.n_vocab)).copy()


def system_info():
    """The features llama.cpp's build and this CPU agree on, as it prints them."""
    return lib.llama_print_system_info().decode()
