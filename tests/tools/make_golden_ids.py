#!/usr/bin/env python3
"""Writes MODEL.tokenize.json and MODEL.prompts.json: ids as llama.cpp gives them.

Two files, because two kinds of tests read them: tokenizer tests compare the hard strings, and
make_golden.py runs the prompts through PyTorch. transformers' own GGUF tokenizers are not used:
they differ from llama.cpp on digits (SmolLM2) and on long runs of spaces (Gemma).

    python3 tests/tools/make_golden_ids.py [--model smollm2|gemma3] [--out DIR]
"""

import argparse

import make_golden_models as models
import make_golden_texts as texts
from llama_cpp_peer import LlamaCpp

MAX_PROSE_TOKENS = 800


def header(model):
    return {"model": model.file, "sha256": model.sha256,
            "command": f"python3 tests/tools/make_golden_ids.py --model {model.key}"}


def hard_strings(model, peer):
    cases = [{"text": text,
              "ids": peer.tokenize(text, add_special=False, parse_special=False),
              "ids_parse_special": peer.tokenize(text, add_special=False, parse_special=True)}
             for text in texts.HARD_STRINGS]
    return {**header(model), "add_special": False, "cases": cases}


def prompts(model, peer):
    def ids_of(text):
        return [model.bos] if text is None else peer.tokenize(text, True, False)

    rows = [{"name": name, "text": text, "ids": ids_of(text)} for name, text in texts.PROMPTS]
    prose = peer.tokenize(texts.PROSE, True, False)
    return {**header(model), "add_special": True, "prompts": rows,
            "hook_prompt": {"text": texts.HOOK_PROMPT, "ids": ids_of(texts.HOOK_PROMPT)},
            "prose": {"text": texts.PROSE, "ids": prose[:MAX_PROSE_TOKENS]}}


def main():
    parser = argparse.ArgumentParser(description="write the golden ids")
    parser.add_argument("--model", choices=[model.key for model in models.MODELS])
    parser.add_argument("--models-dir", default=models.ROOT / "models")
    models.add_out_option(parser)
    options = parser.parse_args()
    for model in models.chosen(options.model):
        peer = LlamaCpp(models.model_path(options.models_dir, model), vocab_only=True)
        models.write_json(options.out / f"{model.key}.tokenize.json", hard_strings(model, peer))
        models.write_json(options.out / f"{model.key}.prompts.json", prompts(model, peer))
        peer.close()


if __name__ == "__main__":
    main()
