"""`credenda hook`: bring memory to a coding agent's prompt, and its words to the journal.

An agent starts one process for each event, so these modules import the standard library's cheapest modules alone; a
test lists them. The process never fails its agent: whatever goes wrong, it prints nothing and exits with 0.
"""
