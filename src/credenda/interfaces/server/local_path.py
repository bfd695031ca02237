"""Paths of this server that a request names as the place to go on."""

__all__ = ["find_local_path"]


def find_local_path(wanted: str) -> str:
    """Return a path of this server to go on with; the first page for anything that could lead elsewhere."""
    is_local = wanted.startswith("/") and not wanted.startswith("//") and wanted.isprintable() and "\\" not in wanted
    return wanted if is_local else "/"
