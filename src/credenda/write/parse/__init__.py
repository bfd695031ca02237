"""Claims from parsed sentences: clauses, whom they are about, and the attributes that their verbs name."""
