"""Files of models, without code: `minilm.safetensors`, `en_core_web_sm-3.8.0/`, `reader/`, and `topics.txt`."""
