"""Turn a question into ranked hits: plan, retrieve, fuse, filter, score, pack."""
