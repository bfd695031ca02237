"""Groups of commands: they suggest the nearest command for a wrong name, and show their help for none."""

from __future__ import annotations

from difflib import get_close_matches

import click


class MissingCommand(click.UsageError):
    """A group was called without a command."""

    def __init__(self, ctx: click.Context, names: list[str]) -> None:
        """Name the commands that the group has."""
        super().__init__(f"a command is missing: {', '.join(names)}", ctx)


class Commands(click.Group):
    """A group that explains itself where the name of a command is missing or wrong."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options of the group; raises `MissingCommand` where nothing but options is given."""
        if not args and not self.invoke_without_command and not ctx.resilient_parsing:
            raise MissingCommand(ctx, self.list_commands(ctx))
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command that was named; raises `MissingCommand` where none was."""
        named = [*getattr(ctx, "_protected_args", ()), *ctx.args]
        if not named and not self.invoke_without_command:
            raise MissingCommand(ctx, self.list_commands(ctx))
        return super().invoke(ctx)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the arguments name; an unknown one is a usage error that names the nearest."""
        name = str(args[0])
        if not ctx.resilient_parsing and not name.startswith("-") and self.get_command(ctx, name) is None:
            ctx.fail(f"No such command '{name}'.{_suggest(name, self.list_commands(ctx))}")
        return super().resolve_command(ctx, args)


def _suggest(name: str, names: list[str]) -> str:
    near = get_close_matches(name.casefold(), names, n=1)
    return f" Did you mean `{near[0]}`?" if near else ""
