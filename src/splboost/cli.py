"""The command line: ``splboost``."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command that the arguments say."""
    try:
        import typer
    except ImportError:
        sys.exit(
            "The command line needs typer, which is not installed; run: "
            "pip install 'splboost[cli]'"
        )
    app = typer.Typer(
        help="Boosting that is not fooled by wrong labels.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )

    @app.callback()
    def splboost() -> None:
        """Boosting that is not fooled by wrong labels."""

    try:
        from splboost.paper.commands import app as paper
    except ImportError as missing:
        sys.exit(
            f"splboost paper needs {missing.name or 'more packages'}, which is not "
            "installed; run: pip install 'splboost[paper]'"
        )
    app.add_typer(paper, name="paper")
    app()


if __name__ == "__main__":
    main()
