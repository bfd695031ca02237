"""The pages, one module each; the docstring of the package above tells how to add one."""
