from dataclasses import replace

import numpy as np
import pytest
from rich.cells import cell_len

from regard.records.evaluation import MAJORITY, DataNotes, Fresh, Interval
from regard.tasks.metrics import evaluate
from regard.tasks.predictions import BaselineAnswers, Predictions
from regard.views.evaluation.page import glossary
from regard.views.evaluation.terminal import summary
from support.evaluations import complete, evaluated, predictions


@pytest.mark.parametrize("several", [False, True])
def test_the_first_lines_are_the_verdict(several):
    evaluation = evaluated(("a", "b", "c"), several=several)
    lines = summary(evaluation)
    word = "All labels right" if several else "Right"
    assert lines[0].startswith(f"{word} on {100 * evaluation.accuracy:.1f} % of 200 documents (")
    assert lines[1].startswith("TF-IDF + logistic regression: ")
    assert lines[2].startswith("Always guessing ‘")
    assert lines[3].split()[0] in ("Better", "Worse", "These")


def test_a_method_that_learned_keeps_its_name_where_it_always_says_the_same():
    """Of few rare documents TF-IDF says the commonest class of all, and is no guess for that."""
    given = predictions(("common", "rare"), 100, noise=3.0)
    certain = np.full((100, 2), [0.9, 0.1])
    learned = BaselineAnswers("TF-IDF", certain - np.linspace(0, 0.1, 100)[:, None] * [1, -1])
    found = evaluate(given, baselines=[learned, BaselineAnswers(MAJORITY, certain)])
    lines = "\n".join(summary(found))
    assert lines.count("\nTF-IDF (always ‘common’)") == 2
    assert lines.count("\nAlways guessing ‘common’") == 2
    assert " TF-IDF (always ‘common’) (" in lines


def test_columns_line_up_whatever_the_script_of_the_names():
    lines = summary(evaluated(("中文类别", "한국어", "plain", "é" * 9)))
    start = next(place for place, line in enumerate(lines) if line.startswith("class"))
    table = lines[start : start + 5]
    assert len({cell_len(line) for line in table}) == 1
    assert all(line.endswith(" %") for line in table[1:])


def test_of_many_classes_the_weakest_are_shown_and_the_rest_counted():
    evaluation = evaluated(tuple(f"class {number}" for number in range(52)), 400, noise=2.0)
    lines = summary(evaluation)
    assert "the 20 weakest classes; 32 better ones are in the report" in lines
    weakest = min(evaluation.per_class, key=lambda score: score.f1)
    assert any(line.startswith(weakest.label) for line in lines)


def test_classes_that_are_as_good_as_the_weakest_are_not_called_better():
    names = tuple(f"class {number}" for number in range(52))
    equal = summary(evaluated(names, 400, noise=0.0))
    assert "20 of 52 classes, all of the same F1; the report has the others" in equal
    found = evaluated(names, 400, noise=0.0)
    weakest = replace(found.per_class[0], f1=0.5)
    lines = summary(replace(found, per_class=(weakest, *found.per_class[1:])))
    assert "the 20 weakest classes; 32 as good or better are in the report" in lines


def test_scores_of_documents_that_were_learnt_from_stand_beside_those_of_others():
    """40 of 200 are known by heart: whoever reads the first lines must not miss it."""
    given = evaluated()
    fresh = Fresh(160, 0.9, Interval(0.85, 0.95), (0.81, 0.5))
    lines = summary(replace(given, data=DataNotes(seen_in_training=40, fresh=fresh)))
    told = (
        "40 texts also in the training data. Of the other 160, 90.0 % are right (85.0–95.0); "
        "TF-IDF + logistic regression: 81.0 %."
    )
    assert told in lines[: lines.index("")]
    assert not any("the other" in line for line in summary(given))
    lines = summary(replace(given, data=DataNotes(seen_in_training=200)))
    assert any(line.startswith("All of these texts are also in the training") for line in lines)


def test_a_handful_of_documents_tells_no_two_methods_apart():
    """Three of three beside none of three is no sure gain, though redrawing gives it each time."""
    right, wrong = np.tile([0.1, 0.9], (3, 1)), np.tile([0.9, 0.1], (3, 1))
    given = Predictions.from_probabilities(("a", "b"), np.array([1, 1, 1]), right)
    found = evaluate(given, baselines=[BaselineAnswers(MAJORITY, wrong)])
    lines = summary(found)
    assert "Too few documents to tell it apart from always guessing ‘a’ (+100.0 points)." in lines
    assert not any(line.startswith("Better") for line in lines)


def test_classes_that_are_never_given_are_named():
    truth = np.repeat([0, 1, 2], [90, 8, 2])
    always = evaluate(Predictions(("a", "b", "c"), truth, np.tile([3.0, 1.0, 0.0], (100, 1))))
    assert "The model answers ‘a’ to every document." in summary(always)
    logits = np.eye(5)[np.where(truth == 2, 0, truth)] * 3.0
    names = ("a", "b", "c", "absent", "gone")
    lines = summary(evaluate(Predictions(names, truth, logits)))
    assert "The model never answers ‘c’, 1 of the 3 classes in these documents." in lines
    several = np.eye(3)[truth].astype(int)
    given = summary(evaluate(Predictions(("a", "b", "c"), several, np.eye(3)[[0] * 100] - 0.5)))
    assert "The model never answers ‘b’, ‘c’, 2 of the 3 classes in these documents." in given
    assert not any("never" in line or "every" in line for line in summary(evaluated()))


def test_what_was_not_measured_of_a_class_is_no_zero():
    """Macro F1 leaves out classes without documents and answers: no 0 % may be read for them."""
    truth = np.repeat([0, 1, 2], [5, 3, 2])
    logits = np.eye(5)[np.where(truth == 2, 0, truth)] * 3.0
    found = evaluate(Predictions(("a", "b", "c", "absent", "gone"), truth, logits))
    lines = summary(found)
    rows = {line.split()[0]: line.split()[1:] for line in lines if line}
    assert rows["c"] == ["2", "0", "—", "0", "%", "0", "%"]
    assert "absent" not in rows
    assert "in no document and no answer, so in no score: absent, gone" in lines
    shown = [score.f1 for score in found.per_class if not score.absent]
    assert found.macro_f1 == pytest.approx(sum(shown) / 3)


def test_a_label_that_occurs_nowhere_counts_in_the_macro_f1_of_several_and_that_is_said():
    truth = np.array([[1, 0, 0], [0, 1, 0]] * 10)
    found = evaluate(Predictions(("a", "b", "gone"), truth, 6.0 * truth - 3))
    assert found.macro_f1 == pytest.approx(2 / 3)
    said = "in no document and no answer, which the macro F1 counts as 0: gone"
    assert said in summary(found)
    assert "no answer gives counts as 0." in glossary(found)
    assert "without those that no document has" in glossary(evaluated())


def test_names_cannot_steer_the_terminal():
    lines = summary(evaluated(("\x1b[31mred", "a\nb\ud800")))
    assert all(line.isprintable() for line in lines)
    assert "\n".join(lines).encode()


def test_remarks_about_the_data_are_at_the_end():
    lines = summary(complete(evaluated()))
    for words in (
        "3 skipped: 3 missing label",
        "2 rows not scored",
        "7 texts also in the training",
    ):
        assert any(words in line for line in lines[-9:])


def test_a_perfect_model_has_nothing_to_withhold():
    lines = summary(evaluated(noise=0.0))
    assert lines[0].startswith("Right on 100 % of 200 documents (98.1–100.0).")
    assert not any("taken for" in line or "to be right on" in line for line in lines)
