"""Comparisons as an arena gives them, made without training anything."""

from regard.records.comparison import Comparison, Faithfulness, LeftOut, Paired, Standing
from regard.records.evaluation import Interval


def standing(name, accuracy, **given):
    """A contender of this accuracy; the rest is as usual unless it is given."""
    usual = {
        "title": name,
        "ours": False,
        "seeds": 3,
        "deviation": 0.002,
        "interval": Interval(accuracy - 0.004, accuracy + 0.004),
        "macro_f1": accuracy,
        "documents_per_second": 600.0,
        "milliseconds": 2.0,
        "peak_bytes": 20_000_000,
        "disk_bytes": 5_000_000,
        "parameters": 100_000,
        "training_seconds": 60.0,
        "faithfulness": Faithfulness("gradient_input", 40, 0.25, 0.6, 0.1),
    }
    return Standing(name=name, accuracy=accuracy, **(usual | given))


def compared(*standings, against="ours", left_out=(), test_documents=1000):
    """A comparison of these, in which every difference of a point is told apart."""
    own = next(one for one in standings if one.name == against)
    pairs = []
    for one in standings:
        gap = one.accuracy - own.accuracy
        sure = 0.001 if abs(gap) > 0.01 else 0.4
        interval = Interval(gap - 0.009, gap + 0.009)
        if one is not own:
            pairs.append(Paired(one.name, against, gap, interval, sure, sure, 0, 3))
    return Comparison(
        data="reviews.csv",
        test="test.csv",
        training_documents=4000,
        test_documents=test_documents,
        classes=("bad", "good"),
        seeds=(0, 1, 2),
        against=against,
        standings=tuple(sorted(standings, key=lambda one: -one.accuracy)),
        pairs=tuple(pairs),
        left_out=tuple(LeftOut(*one) for one in left_out),
        version="0.1",
        date="2026-11-16",
    )


def usual():
    """Ours, which is the most accurate and has weaknesses, beside three others."""
    quick = {"documents_per_second": 6000.0, "milliseconds": 0.2, "peak_bytes": 10_000_000}
    return compared(
        standing("ours", 0.92, ours=True, title="regard <b>"),
        standing("linear", 0.918, title="TF-IDF & linear", training_seconds=4.0, **quick),
        standing("flat", 0.89, faithfulness=Faithfulness("attention", 40, 0.4, 0.7, 0.1)),
        standing("constant", 0.5, deviation=None, seeds=1, faithfulness=None),
        left_out=[("bert", "the extra is not installed")],
    )
