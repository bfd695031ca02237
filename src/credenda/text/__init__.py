"""Words as data: normal forms, tokens, sentences, dates. Pure."""
