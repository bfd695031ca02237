"""Reading with a language model: what it is asked, and what of its answers is believed."""
