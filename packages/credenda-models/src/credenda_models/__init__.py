"""Files of models, without code: `minilm.safetensors` and `reader/`."""
