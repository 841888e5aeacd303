"""The command line: ``splboost``.

Ctrl-C while packages are imported ends the process at once. As an exception it would be
swallowed or converted by some of them, and nothing is lost yet.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from importlib import import_module
from typing import Any

from splboost._tools.interrupts import EXIT_CODE, handling

COMMANDS = {
    "audit": "splboost.audit.audit_command",
    "paper": "splboost.paper.commands",
    "warmup": "splboost.warmup",
}
EXTRAS = "audit", "paper"  # what has an extra of its own name to install
SECONDS = 0.01  # until a lost Ctrl-C is sent again


def _stop(*signal_and_frame: object) -> None:
    os.write(2, b"Stopped.\n")
    os._exit(EXIT_CODE)


def _send_again(lost: Any) -> None:
    """Send a Ctrl-C again that struck where Python cannot raise, as in a callback."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        threading.Timer(SECONDS, _interrupt_main_thread).start()
    else:
        sys.__unraisablehook__(lost)


def _interrupt_main_thread() -> None:
    main = threading.main_thread().ident
    if main is not None and hasattr(signal, "pthread_kill"):  # wakes it if it waits
        signal.pthread_kill(main, signal.SIGINT)
    else:
        signal.raise_signal(signal.SIGINT)


def make_app() -> Any:
    """All commands; what one of them needs is imported when it is asked for."""
    import typer
    from typer.core import TyperGroup

    class Commands(TyperGroup):
        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            self.commands: dict[str, Any] = dict.fromkeys(COMMANDS)

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            if cmd_name in self.commands and self.commands[cmd_name] is None:
                self.commands[cmd_name] = _load(cmd_name)
            return self.commands.get(cmd_name)

        def invoke(self, ctx: Any) -> Any:
            try:
                with handling(signal.SIGINT, signal.default_int_handler):
                    return super().invoke(ctx)
            except KeyboardInterrupt:
                typer.echo("Stopped.", err=True)
                raise typer.Exit(EXIT_CODE) from None

    app = typer.Typer(
        cls=Commands,
        help="Boosting that is not fooled by wrong labels.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )

    def show_version(wanted: bool) -> None:
        if wanted:
            from importlib.metadata import version

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

    return app


def _load(name: str) -> Any:
    """Import a command; one that cannot be imported says what to install."""
    import typer
    from typer.main import get_group

    app = typer.Typer(add_completion=False)
    try:
        with handling(signal.SIGINT, _stop):
            module = import_module(COMMANDS[name])
            if hasattr(module, "app"):
                app.add_typer(module.app, name=name)
            else:
                app.command(name)(module.main)
    except ImportError as error:
        text = (
            f"splboost {name} cannot start ({error}); install what it needs with "
            f"pip install 'splboost[{name}]'."
        )
        anything = {"ignore_unknown_options": True, "allow_extra_args": True}

        # A bracket would be taken for markup.
        @app.command(name, help=text.replace("[", r"\["), context_settings=anything)
        def refuse() -> None:
            sys.exit(text)

    return get_group(app).commands[name]


def main() -> None:
    """Run the command that the arguments say."""
    # Until the process ends, because its last steps cannot handle exceptions either.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _stop)
    sys.unraisablehook = _send_again
    try:
        app = make_app()
    except ImportError as error:
        asked = [name for name in sys.argv[1:] if name in EXTRAS]
        extra = asked[0] if asked else ",".join(EXTRAS)
        sys.exit(
            f"The command line cannot start ({error}); install what it needs with "
            f"pip install 'splboost[{extra}]'."
        )
    app(prog_name="splboost")


if __name__ == "__main__":
    main()
