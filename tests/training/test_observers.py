"""TensorBoard logs, read back by TensorBoard itself."""

import io
import re
import sys
from contextlib import redirect_stderr

import pytest

from regard import Document
from regard.errors import MissingExtra
from regard.estimators.fitting import FitOptions
from regard.estimators.recipes import BALANCED
from regard.records.history import Epoch
from regard.tasks.classify import ClassificationLoss
from regard.training.batches import PlannedBatches
from regard.training.loop import train
from regard.training.observers import Progress, Stage, TensorBoardLog, TrainingProgress, counted
from support.reviews import reviews, tiny
from support.screens import Screen
from support.toys import ToySource, plain_config, toy_model


def test_the_log_holds_every_tenth_step_and_every_epoch(tmp_path):
    """000-14: TensorBoard logs."""
    events = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    config = plain_config(epochs=6, batch_size=8)
    batches = PlannedBatches(ToySource(30), config)
    steps = list(train(toy_model(), batches, loss=ClassificationLoss(), config=config))
    with TensorBoardLog(tmp_path) as log:
        for step in steps:
            log.on_step(step)
        log.on_epoch(Epoch(1, 0.5, 1e-3, 30, 2.0, {"loss": 0.4, "accuracy": 0.75}))
    read = events.EventAccumulator(str(tmp_path)).Reload()
    losses = read.Scalars("step/loss")
    assert [event.step for event in losses] == [10, 20]
    assert [event.value for event in losses] == pytest.approx([steps[9].loss, steps[19].loss])
    assert read.Scalars("epoch/validation_accuracy")[0].value == 0.75
    assert "epoch/validation_macro_f1" not in read.Tags()["scalars"]


def test_each_of_several_trainings_has_a_curve_of_its_own(tmp_path):
    events = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    documents = [Document(*both) for both in zip(*reviews(200), strict=True)]
    with TensorBoardLog(tmp_path) as log:
        tiny(seeds=2, training__epochs=2, wide=None).fit_documents(
            documents,
            options=FitOptions(recipe=BALANCED, observers=(log,), choose_method=False),
        )
    folds = [f"fold-{fold}-of-4" for fold in range(1, 5)]
    whole = [f"all-documents-network-{seed}-of-2" for seed in (1, 2)]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*folds, *whole])
    for name in (*folds, *whole):
        read = events.EventAccumulator(str(tmp_path / name)).Reload()
        steps = [event.step for event in read.Scalars("epoch/train_loss")]
        assert steps == list(range(1, len(steps) + 1))


def test_without_tensorboard_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard.writer", None)
    with pytest.raises(MissingExtra, match=r"regard\[logs\]"):
        TensorBoardLog(tmp_path)


SCORES = {"loss": 0.4, "accuracy": 0.75, "macro_f1": 0.7}
EPOCH = Epoch(3, 0.51239, 1e-3, 500, 2.0, SCORES)
LINE = (
    "epoch  3  loss 0.5124  validation loss 0.4000  accuracy 0.7500  macro-F1 0.7000  "
    "250 documents/s"
)


@pytest.fixture(autouse=True)
def colours(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "120")


def watched(stream, *, quiet=False):
    """What a real training of two epochs puts on the stream."""
    documents = [Document(text, label) for text, label in zip(*reviews(60), strict=True)]
    classifier = tiny(training__epochs=2, training__batch_size=2)
    with redirect_stderr(stream), TrainingProgress(quiet=quiet) as progress:
        classifier.fit_documents(documents, options=FitOptions(observers=(progress,)))
    return stream


def test_on_a_terminal_there_is_a_bar_with_loss_score_speed_and_time():
    """001-20: running loss and accuracy."""
    shown = watched(Screen()).plain()
    assert re.search(
        r"training .*\d+ % epoch 2  loss \d\.\d{3}  accuracy \d\.\d{3}  [\d,]+ documents/s", shown
    )
    assert re.search(r"documents/s +\d:\d\d:\d\d", shown), "how long is left"
    assert re.search(r"[\r\n]epoch  1  loss ", shown), "a line stays for each epoch"


def test_elsewhere_there_is_a_line_for_each_epoch_and_no_bar():
    """001-20: in a log or a build no bar is drawn."""
    written = watched(io.StringIO()).getvalue()
    lines = written.splitlines()
    assert len(lines) == 2 and all(re.match(r"epoch  [12]  loss \d", line) for line in lines)
    assert "\x1b" not in written and "\r" not in written


def test_an_epoch_is_one_line():
    with redirect_stderr(io.StringIO()) as log:
        TrainingProgress().on_epoch(EPOCH)
        TrainingProgress().on_epoch(Epoch(1, 0.5, 1e-3, 500, 0.0))
    assert log.getvalue() == f"{LINE}\nepoch  1  loss 0.5000  0 documents/s\n"


def test_the_name_of_a_training_stands_over_its_epochs():
    """What was found in the data comes first, and then whose epochs follow."""
    with redirect_stderr(io.StringIO()) as log:
        progress = TrainingProgress()
        progress.on_training("fold 1 of 4")
        assert log.getvalue() == ""
        progress.on_epoch(EPOCH)
        progress.on_epoch(EPOCH)
    assert log.getvalue() == f"fold 1 of 4\n{LINE}\n{LINE}\n"


def test_on_a_terminal_the_bar_says_what_is_done_between_and_after_the_epochs():
    """Issue 10.1: no silent second after the last epoch."""
    shown = watched(Screen()).plain()
    assert re.search(r"validating .*\d+ %", shown) and re.search(r"calibrating .*\d+ %", shown)


def test_elsewhere_a_stage_that_takes_long_has_one_line():
    now = iter([0.0, 1.0, 2.5, 100.0, 101.0])
    with redirect_stderr(io.StringIO()) as log:
        progress = TrainingProgress(clock=lambda: next(now))
        for done in range(4):
            progress.on_stage(Stage("choosing how to explain", done, 10))
        progress.on_stage(Stage("fitting"))
        progress.on_stage(Stage("fitting"))
    assert log.getvalue() == "choosing how to explain, 2 of 10 done, about 10 s left\n"


def test_anything_can_be_counted_with_what_is_left_where_that_is_known():
    now = iter([0.0, 3.0, 100.0, 103.0])
    with redirect_stderr(io.StringIO()) as log, Progress(clock=lambda: next(now)) as progress:
        assert list(counted("abc", "explained", (progress,))) == ["a", "b", "c"]
        assert list(counted(iter("abc"), "read", (progress,))) == ["a", "b", "c"]
    assert log.getvalue() == "explained, 1 of 3 done, about 6 s left\nread, 1 done\n"


def test_what_comes_from_a_file_is_counted_with_the_time_left():
    class File:
        def share_read(self):
            return 0.25

    now = iter([0.0, 3.0])
    with redirect_stderr(io.StringIO()) as log, Progress(clock=lambda: next(now)) as progress:
        assert list(counted(iter("ab"), "read", (progress,), File())) == ["a", "b"]
    assert log.getvalue() == "read, 1 done, 25 %, about 9 s left\n"
    with redirect_stderr(Screen()) as screen, Progress() as progress:
        progress.on_stage(Stage("read", 1200, share=0.25))
    assert re.search(r"read .*1,200, 25 %", screen.plain())


def test_on_a_terminal_a_stage_shows_its_share_or_its_count():
    with redirect_stderr(Screen()) as screen, Progress() as progress:
        progress.on_stage(Stage("explained", 3, 4))
        progress.on_stage(Stage("read", 1234))
        progress.on_stage(Stage("running", detail="seed 0, [epoch 3]"))
    shown = screen.plain()
    assert re.search(r"explained .*75 %", shown) and re.search(r"read .*1,234", shown)
    assert "seed 0, [epoch 3]" in shown
    assert "read" not in shown[shown.index("running") :], "one at a time"


@pytest.mark.parametrize("stream", [Screen, io.StringIO])
def test_quiet_is_silent(stream):
    assert watched(stream(), quiet=True).getvalue() == ""


def fitted_before(stream, **params):
    """What a fit from Python puts on the stream."""
    with redirect_stderr(stream):
        tiny(training__epochs=2, training__batch_size=2, **params).fit(*reviews(60))
    return stream


def test_a_fit_from_python_draws_a_bar_on_a_terminal_and_is_silent_elsewhere():
    """001-20."""
    # What the bar shows last is sure to be drawn; before, it may change quicker than it is drawn.
    assert re.search(r"training .*\d+ % epoch 2  loss \d", fitted_before(Screen()).plain())
    assert fitted_before(io.StringIO()).getvalue() == ""
    assert fitted_before(Screen(), progress=False).getvalue() == ""
