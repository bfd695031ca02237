"""Files of models, without code: `minilm.safetensors` and `en_core_web_sm-3.8.0/`."""
