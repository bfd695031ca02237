"""Text processing: normal forms, tokens, sentences, dates. Pure."""
