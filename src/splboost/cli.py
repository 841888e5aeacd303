"""The command line: ``splboost``."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.metadata import version
from typing import Any

COMMANDS = "audit", "paper"  # each has a module of commands, and an extra to install


def make_app() -> Any:
    """All commands, each with what it needs imported."""
    import typer

    app = typer.Typer(
        help="Boosting that is not fooled by wrong labels.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )

    def show_version(wanted: bool) -> None:
        if wanted:
            typer.echo(f"splboost {version('splboost')}")
            raise typer.Exit

    option = typer.Option(
        False,
        "--version",
        help="Print it and exit.",
        is_eager=True,
        callback=show_version,
    )

    @app.callback()  # so that the name of a command is always needed
    def start(shown: bool = option) -> None:
        pass

    for name in COMMANDS:
        try:
            app.add_typer(import_module(f"splboost.{name}.commands").app, name=name)
        except ImportError as error:
            _add_excuse(app, name, error)
    return app


def _add_excuse(app: Any, name: str, error: ImportError) -> None:
    """In place of a command, say what to install."""
    text = (
        f"splboost {name} cannot start ({error}); install what it needs with "
        f"pip install 'splboost[{name}]'."
    )
    anything = {"ignore_unknown_options": True, "allow_extra_args": True}

    # A bracket would be taken for markup.
    @app.command(name, help=text.replace("[", r"\["), context_settings=anything)
    def excuse() -> None:
        sys.exit(text)


def main() -> None:
    """Run the command that the arguments say."""
    try:
        app = make_app()
    except ImportError as error:
        asked = [name for name in sys.argv[1:] if name in COMMANDS]
        extra = asked[0] if asked else ",".join(COMMANDS)
        sys.exit(
            f"The command line cannot start ({error}); install what it needs with "
            f"pip install 'splboost[{extra}]'."
        )
    app(prog_name="splboost")


if __name__ == "__main__":
    main()
