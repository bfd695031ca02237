"""Files of models, without code: `minilm.safetensors`, `questions.safetensors` and `reader/`."""
