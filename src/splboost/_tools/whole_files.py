"""Files that are replaced as a whole, or not at all.

A file is written beside its place, flushed to disk, and then moved there in one step.
A kill, a full disk or Ctrl-C at any moment leaves the earlier file as it was.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

MOST_SEARCHED = 10_000  # bytes of a file, for a mark
PART = "part"  # in the name of what a killed process leaves beside the file
LONGEST_STEM = 100  # bytes of a name to which something is added


class WriteError(OSError):
    """Says which file could not be written, and what is there now."""


@contextmanager
def replacing(path: str | os.PathLike[str], like: Path | None = None) -> Iterator[Path]:
    """Yield a path to write to; at the end that file replaces ``path``.

    Permissions and owner of an earlier file are kept, and a symbolic link still points
    where it did. A new file can be read by nobody who cannot read the file ``like``. A
    missing folder is made. Devices such as ``/dev/stdout`` are written directly.

    Raises
    ------
    WriteError
        If the disk is full, for instance. The earlier file is as it was. If it cannot
        be replaced, because another program on Windows has it open, the new file stays
        beside it, and the error names both.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "labels.csv")
    ...     with replacing(file) as part:
    ...         _ = part.write_text("row,label")
    ...         print(file.exists())
    ...     print(file.read_text())
    False
    row,label
    """
    if is_device(Path(path)):  # checked first, as links to pipes cannot be resolved
        try:
            yield Path(path)
        except OSError as error:
            raise WriteError(
                f"{path} could not be written ({error.strerror or error})."
            ) from error
        return
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise WriteError(f"{path} is a folder; give the name of a file.")
    stem = os.fsencode(target.stem)[:LONGEST_STEM].decode(errors="ignore")
    suffix = target.suffix if len(os.fsencode(target.suffix)) < LONGEST_STEM else ""
    part = target.with_name(f"{stem}.{secrets.token_hex(4)}.{PART}{suffix}")
    try:
        _make_like(target, part, like)
        yield part
        with part.open("rb+") as stream:
            os.fsync(stream.fileno())
    except BaseException as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        if not isinstance(error, OSError):
            raise
        left = "there is no such file now"
        if target.exists():
            left = "the earlier file is unchanged"
        raise WriteError(
            f"{path} could not be written ({error.strerror or error}); {left}."
        ) from error
    _move(part, target, path)


def is_device(path: Path) -> bool:
    """Whether a path exists and is neither a file nor a folder."""
    return path.exists() and not path.is_file() and not path.is_dir()


def has_mark(path: Path, mark: str) -> bool:
    """Whether a text that marks the files of a command is near the start of a file."""
    with path.open("rb") as stream:
        return mark.encode() in stream.read(MOST_SEARCHED)


def _make_like(target: Path, part: Path, like: Path | None) -> None:
    """Make an empty file, and its folder, with the permissions that are the target's.

    If there is none yet, those that it would get.
    """
    part.parent.mkdir(parents=True, exist_ok=True)
    mode = 0o666 if like is None else like.stat().st_mode & 0o666
    os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))
    with suppress(FileNotFoundError):
        earlier = target.stat()
        part.chmod(earlier.st_mode & 0o7777)
        if hasattr(os, "chown"):
            with suppress(PermissionError):  # only root may give files away
                os.chown(part, earlier.st_uid, earlier.st_gid)


def _move(part: Path, target: Path, path: str | os.PathLike[str]) -> None:
    try:
        os.replace(part, target)
    except OSError as error:
        raise WriteError(
            f"{path} could not be replaced ({error.strerror or error}); close it if "
            f"another program has it open. It is unchanged, and the new file is whole "
            f"in {part}."
        ) from error
    except BaseException:  # Ctrl-C
        part.unlink(missing_ok=True)
        raise
    if os.name == "posix":  # elsewhere a folder cannot be opened
        with suppress(OSError):  # nor on some network drives
            folder = os.open(target.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)


def write_whole(
    path: str | os.PathLike[str], content: str | bytes, like: Path | None = None
) -> None:
    """Write a text as UTF-8, its line ends as they are, or bytes."""
    data = content.encode("utf-8") if isinstance(content, str) else content
    with replacing(path, like) as part, part.open("wb") as stream:
        stream.write(data)


def check_replaceable(
    path: Path, is_own: Callable[[Path], bool], *, force: bool = False
) -> None:
    """Refuse to replace a file that this command has not written.

    Parameters
    ----------
    path : where a file is to be written
    is_own : whether a file there was made by the same command
    force : replace it all the same
    """
    if force or not path.is_file() or path.stat().st_size == 0:
        return
    try:
        own = is_own(path)
    except (OSError, ValueError, RecursionError):  # another kind of file
        own = False
    if not own:
        raise ValueError(
            f"{path} exists already, and what it holds might be lost; give another "
            "place, move the file, or replace it with --force."
        )
