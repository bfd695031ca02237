"""Files of models, without code: `minilm.safetensors`, `reader/`, and `topics.txt`."""
