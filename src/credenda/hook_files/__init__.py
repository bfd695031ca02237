"""The files beside a database that hooks of agents share with the processes that hold the memory open.

A hook is a process for each prompt, so these modules import the standard library's small modules alone.
"""
