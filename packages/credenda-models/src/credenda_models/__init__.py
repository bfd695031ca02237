"""Files of models, without code: `minilm.safetensors`, `claims.safetensors` and `reader/`."""
