"""APIs of other libraries over a Credenda memory, so that a program needs to change only one import."""
