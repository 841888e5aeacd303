"""The command line: ``splboost``."""

from __future__ import annotations

import sys
from typing import Any


def make_app() -> Any:
    """All commands, each with what it needs imported."""
    import typer

    from splboost.audit.commands import app as audit
    from splboost.paper.commands import app as paper

    app = typer.Typer(
        help="Boosting that is not fooled by wrong labels.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    app.callback()(lambda: None)  # so that the name of a command is always needed
    app.add_typer(audit, name="audit")
    app.add_typer(paper, name="paper")
    return app


def main() -> None:
    """Run the command that the arguments say."""
    try:
        app = make_app()
    except ImportError as error:
        sys.exit(
            f"The command line cannot start ({error}); install what it needs with "
            "pip install 'splboost[paper]'."
        )
    app(prog_name="splboost")


if __name__ == "__main__":
    main()
