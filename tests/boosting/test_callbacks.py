"""Callbacks, Ctrl-C, and what verbose shows."""

import io
import os
import pickle
import re
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

from boosters import quiet_fit
from helpers import parametrize_pairs
from splboost import AdaBoostClassifier, SPLBoostClassifier
from splboost._tools.progress_bar import Bar
from splboost.boosting import Progress
from splboost.boosting.adaboost import DiscreteStep
from splboost.boosting.fitting import Fitting
from splboost.boosting.state import State
from splboost.datasets import flip_labels
from splboost.pace import Hard
from splboost.trees import C45Classifier, CARTClassifier

LEARNERS = {
    "stumps": None,
    "trees": CARTClassifier(max_depth=3),
    "foreign": DecisionTreeClassifier(max_depth=1),
}
two_and_three = pytest.mark.parametrize("n_classes", [2, 3])
needs_rich = pytest.mark.skipif(find_spec("rich") is None, reason="needs rich")


def data(n_classes=2, n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)).round(1)
    score = X[:, 0] + X[:, 1]
    y = np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)
    return X, flip_labels(y, 0.15, random_state=seed)[0]


def assert_same(one, other, X):
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))
    for name in ("estimator_weights_", "estimator_errors_", "sample_pace_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)
    for name in ("n_selected_", "latent_objective_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)
    assert one.n_iter_ == other.n_iter_ == len(one.estimators_)


# -- what a callback is told ----------------------------------------------------------


@two_and_three
def test_progress(n_classes):
    X, y = data(n_classes)
    seen = []
    model = SPLBoostClassifier(
        n_estimators=12, pace=Hard(age=2.0), callback=seen.append
    )
    model.fit(X, y)
    assert {each.n_rounds for each in seen} == {12}
    assert all(each.validation_score is None for each in seen)
    assert not any(each.interrupted for each in seen)
    assert all(isinstance(each, Progress) for each in seen)
    seen.clear()
    model.fit(X, y, X_val=X[:50], y_val=y[:50])
    scores = [each.validation_score for each in seen]
    assert scores == model.validation_scores_.tolist()


def test_the_model_so_far_is_independent_of_the_booster():
    X, y = data()
    seen = []
    model = SPLBoostClassifier(n_estimators=8, callback=seen.append)
    model.fit(X, y, X_val=X[:40], y_val=y[:40])
    model.set_params(n_estimators=3, callback=None).fit(X[:50], y[:50])
    so_far = seen[4].model
    assert so_far is seen[4].model is not model
    assert so_far.n_estimators == 8
    assert len(so_far.validation_scores_) == so_far.n_iter_ == 5
    assert_same(so_far, SPLBoostClassifier(n_estimators=5).fit(X, y), X)
    so_far.callback = None
    copy = pickle.loads(pickle.dumps(so_far))
    np.testing.assert_array_equal(copy.predict(X), so_far.predict(X))


def test_rounds_passed_over_are_not_told_of():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, size=(30, 2)).astype(float), np.arange(30) % 2
    seen = []
    model = SPLBoostClassifier(subsample=0.2, random_state=0, callback=seen.append)
    quiet_fit(model, X, y)
    assert [each.round for each in seen] == list(range(1, model.n_iter_ + 1))


def test_models_are_made_only_when_asked_for(monkeypatch):
    X, y = data()
    made = []
    monkeypatch.setattr(
        "splboost.boosting.fitting.Fitting.booster_after",
        lambda *args: made.append(args),
    )
    SPLBoostClassifier(n_estimators=5, callback=lambda progress: None).fit(X, y)
    assert not made


# -- stopping -------------------------------------------------------------------------


@pytest.mark.parametrize("answer", [True, np.True_, 1], ids=repr)
def test_a_callback_stops(answer):
    X, y = data()
    model = SPLBoostClassifier(
        callback=lambda progress: answer if progress.round == 6 else None
    ).fit(X, y)
    assert model.stop_reason_ == "callback"
    assert_same(model, SPLBoostClassifier(n_estimators=6).fit(X, y), X)


def test_a_callback_stops_and_the_best_round_is_kept():
    X, y = data()
    marks = iter([1, 1, 1, 2, 5, 3, 3, 3])
    model = SPLBoostClassifier(
        n_iter_no_change=50,
        scoring=lambda booster, X, y: next(marks),
        callback=lambda progress: progress.round == 8,
    ).fit(X, y, X_val=X, y_val=y)
    assert (model.stop_reason_, len(model.validation_scores_)) == ("callback", 8)
    assert_same(model, SPLBoostClassifier(n_estimators=5).fit(X, y), X)


def test_a_callback_that_is_none():
    with pytest.raises(ValueError, match=r"'callback'.*callable.*Got 'stop'"):
        SPLBoostClassifier(callback="stop").fit(*data())


def test_a_callback_survives_cloning():
    def callback(progress):
        return progress.round == 2

    assert clone(SPLBoostClassifier(callback=callback)).fit(*data()).n_iter_ == 2


# -- Ctrl-C ---------------------------------------------------------------------------


class Interrupted:
    """A callback that keeps the rounds done, or not; raises in a round if told to."""

    def __init__(self, keep, raise_in=None):
        self.keep = keep
        self.raise_in = raise_in
        self.seen = []

    def __call__(self, progress):
        self.seen.append(progress)
        if progress.interrupted:
            return self.keep
        if progress.round == self.raise_in:
            raise KeyboardInterrupt
        return False


# Where an interrupt may strike inside a round: in a call of which method, and whether
# after its work or before.
PLACES = [
    (State, "refresh", False),
    (State, "refresh", True),
    (State, "follow", False),
    (State, "follow", True),
    (DiscreteStep, "propose", True),
    (DiscreteStep, "take", False),
    (DiscreteStep, "take", True),
]


@parametrize_pairs(place=PLACES, learner=list(LEARNERS), n_classes=[2, 3])
def test_an_interrupt_inside_a_round(monkeypatch, place, learner, n_classes):
    """Scores may have moved, but no half of a round is kept."""
    X, y = data(n_classes)
    (kind, name, after), learner = place, LEARNERS[learner]
    method, calls = getattr(kind, name), []

    def broken(*args, **options):
        calls.append(name)
        if len(calls) == 6 and not after:
            raise KeyboardInterrupt
        result = method(*args, **options)
        if len(calls) == 6:
            raise KeyboardInterrupt
        return result

    callback = Interrupted(True)
    model = SPLBoostClassifier(learner, pace=Hard(age=1.5), callback=callback)
    with monkeypatch.context() as patch:
        patch.setattr(kind, name, broken)
        model.fit(X, y)
    assert model.stop_reason_ == "interrupted"
    assert 2 <= model.n_iter_ <= 5
    assert callback.seen[-1].interrupted
    shorter = SPLBoostClassifier(learner, pace=Hard(age=1.5))
    shorter.set_params(n_estimators=model.n_iter_).fit(X, y)
    assert_same(model, shorter, X)
    assert_same(callback.seen[-1].model, shorter, X)


@pytest.mark.parametrize("best", [3, 6])
def test_an_interrupt_of_the_scoring(best):
    """A round without a score is not kept, be it the best or not."""
    X, y = data()
    calls = []

    def scoring(booster, X, y):
        calls.append(booster)
        if len(calls) == 7:
            raise KeyboardInterrupt
        return len(calls) == best

    model = AdaBoostClassifier(
        n_iter_no_change=20, scoring=scoring, callback=Interrupted(True)
    ).fit(X, y, X_val=X, y_val=y)
    assert (model.stop_reason_, len(model.validation_scores_)) == ("interrupted", 6)
    assert_same(model, AdaBoostClassifier(n_estimators=best).fit(X, y), X)

    calls.clear()
    model.set_params(n_iter_no_change=None).fit(X, y, X_val=X, y_val=y)
    assert model.n_iter_ == len(model.validation_scores_) == 6


def test_an_interrupt_between_score_and_mark(monkeypatch):
    """A round that is not kept is not the best one either."""
    X, y = data()
    mark, calls = Fitting.mark, []

    def broken(self):
        calls.append(self)
        if len(calls) == 6:
            raise KeyboardInterrupt
        return mark(self)

    monkeypatch.setattr(Fitting, "mark", broken)
    model = AdaBoostClassifier(
        n_iter_no_change=20,
        scoring=lambda booster, X, y: booster.n_iter_,
        callback=Interrupted(True),
        warm_start=True,
    ).fit(X, y, X_val=X, y_val=y)
    assert model.n_iter_ == len(model.validation_scores_) == 5
    assert len(model.estimators_) == 5


def test_an_interrupt_of_a_weak_learner():
    class Tired(DecisionTreeClassifier):
        n_fits = 0

        def fit(self, X, y, sample_weight=None):
            Tired.n_fits += 1
            if Tired.n_fits == 4:
                raise KeyboardInterrupt
            return super().fit(X, y, sample_weight)

    X, y = data()
    model = SPLBoostClassifier(Tired(max_depth=1), callback=Interrupted(True))
    assert model.fit(X, y).n_iter_ == 3


@pytest.mark.parametrize(
    "callback", [None, Interrupted(False, 4), Interrupted(None, 4)]
)
def test_an_interrupt_that_nobody_wants(monkeypatch, callback):
    X, y = data()
    model = SPLBoostClassifier(n_estimators=4, callback=callback)
    if callback is None:
        take, calls = DiscreteStep.take, []

        def broken(*args):
            calls.append(args)
            if len(calls) == 4:
                raise KeyboardInterrupt
            return take(*args)

        monkeypatch.setattr(DiscreteStep, "take", broken)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert not hasattr(model, "classes_")
    if callback is not None:
        assert [each.interrupted for each in callback.seen] == [False] * 4 + [True]


def test_an_interrupt_before_the_first_round(monkeypatch):
    def broken(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(DiscreteStep, "propose", broken)
    callback = Interrupted(True)
    model = SPLBoostClassifier(callback=callback)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*data())
    assert not callback.seen
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("kind", [CARTClassifier, C45Classifier])
def test_no_interrupt_is_lost_in_numba(kind, depth):
    """Its C code drops errors of the Python code that it calls, so it may call none."""
    called = []

    def profile(frame, event, arg):
        if event == "call" and f"numba{os.sep}" in frame.f_code.co_filename:
            called.append(frame.f_code)

    def callback(progress):
        sys.setprofile(profile if 5 < progress.round < 15 else None)

    X, y = data()
    model = SPLBoostClassifier(kind(max_depth=depth), callback=callback)
    try:
        model.fit(X, y, X_val=X, y_val=y)
    finally:
        sys.setprofile(None)
    assert not called


FIT_FOR_LONG = """
    import signal, sys
    import numpy as np
    from splboost import SPLBoostClassifier
    from splboost.trees import C45Classifier, CARTClassifier

    signal.signal(signal.SIGINT, signal.default_int_handler)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 10))
    y = (X[:, 0] + rng.normal(size=2000) > 0).astype(int)

    def callback(progress):
        if progress.round == 3 and not progress.interrupted:
            print("under way", flush=True)
        return progress.interrupted and KEEP

    model = SPLBoostClassifier(
        LEARNER, n_estimators=10**7, callback=callback,
        on_perfect="continue", warm_start=True, verbose=1,
    )
    try:
        model.fit(X, y)
    except KeyboardInterrupt:
        print("raised", hasattr(model, "classes_"))
        sys.exit()
    n = model.n_iter_
    again = SPLBoostClassifier(
        LEARNER, n_estimators=n, on_perfect="continue"
    ).fit(X, y)
    same = [
        np.array_equal(model.decision_function(X), again.decision_function(X)),
        np.array_equal(model.sample_pace_, again.sample_pace_),
        np.array_equal(model.latent_objective_, again.latent_objective_),
    ]
    print(model.stop_reason_, n >= 3, all(same))
"""


@pytest.mark.skipif(os.name == "nt", reason="needs signals")
@pytest.mark.parametrize(
    ("kind", "keep", "wait"),
    [("CARTClassifier", True, 0.13), ("C45Classifier", False, 0.0)],
)
def test_a_real_interrupt(kind, keep, wait):
    program = textwrap.dedent(FIT_FOR_LONG).replace("KEEP", str(keep))
    program = program.replace("LEARNER", f"{kind}(max_depth=2)")
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout.readline() == "under way\n"
            time.sleep(wait)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=120)
        finally:
            process.kill()
    assert out.strip() == ("interrupted True True" if keep else "raised False"), err
    assert "Traceback" not in err


FIT_INSIDE_ANOTHER_PROGRAM = """
    import ctypes, os, sys

    came = []
    handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(came.append)
    ctypes.CDLL(None).signal(2, handler)
    for name in ("_signal", "signal"):  # which ask for handlers when they are loaded
        sys.modules.pop(name, None)
    import signal

    from splboost import SPLBoostClassifier
    from splboost.trees import C45Classifier, CARTClassifier

    assert signal.getsignal(signal.SIGINT) is None
    for learner in CARTClassifier(max_depth=1), C45Classifier(max_depth=1):
        SPLBoostClassifier(learner, n_estimators=2).fit([[0.0], [1.0]] * 9, [0, 1] * 9)
        os.kill(os.getpid(), signal.SIGINT)
        print(came, signal.getsignal(signal.SIGINT))
"""


@pytest.mark.skipif(os.name == "nt", reason="needs signals")
def test_a_program_around_python_keeps_its_interrupt():
    program = textwrap.dedent(FIT_INSIDE_ANOTHER_PROGRAM)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True
    )
    assert done.stdout.splitlines() == ["[2] None", "[2, 2] None"], done.stderr


def own_handler(number, frame):
    """As a notebook has one."""


@pytest.mark.parametrize(
    "handler", [own_handler, signal.SIG_IGN, signal.SIG_DFL, signal.default_int_handler]
)
@pytest.mark.parametrize("inside", [own_handler, None])
def test_a_fit_leaves_the_handler_of_ctrl_c(handler, inside):
    X, y = data()
    found = []

    def callback(progress):
        found.append(signal.getsignal(signal.SIGINT))
        SPLBoostClassifier(n_estimators=1).fit(X, y)
        if inside is not None:
            signal.signal(signal.SIGINT, inside)

    before = signal.signal(signal.SIGINT, handler)
    try:
        SPLBoostClassifier(n_estimators=2, callback=callback).fit(X, y)
        after = signal.getsignal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert found[0] is handler
    assert after is (handler if inside is None else inside)


def test_fits_in_threads_leave_the_handler_of_ctrl_c():
    X, y = data()
    found = []

    def fit(learner):
        def callback(progress):
            found.append(signal.getsignal(signal.SIGINT))

        SPLBoostClassifier(learner, n_estimators=3, callback=callback).fit(X, y)

    before = signal.signal(signal.SIGINT, own_handler)
    try:
        with ThreadPoolExecutor(2) as pool:
            learners = CARTClassifier(max_depth=1), C45Classifier(max_depth=1)
            assert list(pool.map(fit, learners)) == [None, None]
        after = signal.getsignal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert found == [own_handler] * 6 and after is own_handler


# -- verbose --------------------------------------------------------------------------


@pytest.mark.parametrize("verbose", [1, 2, True])
def test_lines(capsys, verbose):
    X, y = data()
    model = AdaBoostClassifier(n_estimators=45, verbose=verbose).fit(X, y)
    out, err = capsys.readouterr()
    assert not out
    lines = err.splitlines()
    shown = [int(line.split()[1]) for line in lines]
    assert shown == [4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 45]
    assert lines[-1] == (
        f"round 45 of 45: error {model.estimator_errors_[-1]:.4f}, 150 samples "
        f"selected, latent objective {model.latent_objective_[-1]:.6g}"
    )
    model.fit(X, y, X_val=X, y_val=y)
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.endswith(f", validation score {model.validation_scores_[-1]:.6g}")


def test_silence(capsys):
    AdaBoostClassifier(n_estimators=45).fit(*data())
    assert capsys.readouterr() == ("", "")


def test_lines_of_a_fit_that_stops(capsys):
    AdaBoostClassifier(
        n_estimators=100, verbose=1, callback=lambda progress: progress.round == 13
    ).fit(*data())
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(":")[0] for line in lines] == [
        "round  10 of 100",
        "round  13 of 100",
    ]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def without_codes(text):
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)


@needs_rich
@pytest.mark.parametrize("verbose", [1, 2])
def test_bar(monkeypatch, verbose):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("TERM", "xterm")
    X, y = data()
    model = AdaBoostClassifier(n_estimators=50, verbose=verbose)
    model.fit(X, y, X_val=X, y_val=y)
    text = without_codes(sys.stderr.getvalue())
    assert "boosting" in text
    assert "50/50" in text
    assert f"error {model.estimator_errors_[-1]:.3f}" in text
    assert "selected 150" in text
    assert f"validation {model.validation_scores_[-1]:.4g}" in text
    assert text.count("samples selected") == (10 if verbose == 2 else 0)
    assert sys.stderr.getvalue().count("\x1b[?25l") == 1  # the cursor is hidden,
    assert sys.stderr.getvalue().rstrip().endswith("\x1b[?25h")  # and shown again


@needs_rich
def test_the_bar_is_not_drawn_too_often(monkeypatch):
    drawn = []
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(Bar, "_draw", lambda self: drawn.append(time.time()))
    start = time.time()
    AdaBoostClassifier(n_estimators=3000, verbose=1).fit(*data())
    assert 2 <= len(drawn) <= 10 * (time.time() - start) + 3


@needs_rich
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_the_bar_is_tidied_up(monkeypatch, error):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")

    def callback(progress):
        if progress.round == 5 and not progress.interrupted:
            raise error

    with pytest.raises(error):
        AdaBoostClassifier(verbose=1, callback=callback).fit(*data())
    text = sys.stderr.getvalue()
    assert "5/200" in without_codes(text)
    assert text.count("\x1b[?25h") == text.count("\x1b[?25l") == 1


def test_a_terminal_without_rich(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr("splboost._tools.progress_bar.find_spec", lambda name: None)
    AdaBoostClassifier(n_estimators=10, verbose=1).fit(*data())
    assert len(sys.stderr.getvalue().splitlines()) == 10
