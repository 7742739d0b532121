"""Where a network looks while it is told what to write, and what else it would have written."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from regard.audit.tally import audit_alignments
from regard.data.pairs import EncodedPairs
from regard.errors import ConfigError, DataError, ModelError
from regard.records.alignment import LEAST_DECIDED
from regard.records.translation import GoldLinks
from regard.tasks.translations import links_of, mean_effective_count, score_links
from regard.text.units import START
from regard.text.vocab import PADDING, UNKNOWN, cut_texts
from support.aligned import aligned
from support.parrots import new_translator, parrots

LINES, CAPITALS = parrots(450)


@pytest.fixture(scope="module")
def fitted():
    return new_translator(training__monitor="loss").fit(LINES, CAPITALS)


def test_copying_looks_at_what_is_copied(fitted):
    """002-15, 004-05, 004-06: near the diagonal, no alignment error, about one piece counts."""
    new, wanted = parrots(50, seed=1)
    found = fitted.align(new, wanted)
    gold = [GoldLinks(frozenset((n, n) for n in range(len(line.split())))) for line in new]
    assert score_links([links_of(one) for one in found], gold).error_rate < 0.05
    assert mean_effective_count(found) < 2
    worse = fitted.align(new, [line[::-1] for line in wanted])
    assert np.mean([one.score for one in worse]) < np.mean([one.score for one in found])


def test_given_texts_are_looked_at_as_if_they_had_been_written(fitted):
    for written in fitted.explain(["a b c d", "h g f"]):
        (told,) = fitted.align([written.source], [written.target])
        assert told.target_spans == written.target_spans
        np.testing.assert_allclose(told.weights, written.weights, atol=1e-4)
        assert told.score == pytest.approx(written.score, abs=1e-4)


def test_weights_and_score_are_those_of_the_network_itself(fitted):
    source, target = "a b c", "B A"
    sides = (fitted.source_units_, source), (fitted.target_units_, target)
    ids = [[cut_texts([text], units)[0].ids] for units, text in sides]
    batch = EncodedPairs(*ids).batch([0])
    with torch.no_grad():
        output = fitted.model_.eval()(batch)
    (found,) = fitted.align([source], [target])
    np.testing.assert_allclose(
        found.weights, output.attention[0].weights.values.reshape(3, 3)[:2], atol=1e-6
    )
    output.logits[:, [PADDING, START]] = -torch.inf
    loss = torch.nn.functional.cross_entropy(output.logits, batch.target.values)
    assert found.score == pytest.approx(-float(loss), abs=1e-5)


def test_company_and_order_change_nothing(fitted):
    sources, targets = ["a b c d", "", "e", " ", "f g"], ["A", "B", "E F", "", ""]
    together = fitted.align(sources, targets)
    assert [one.source for one in together] == sources
    assert [one.target for one in together] == targets
    assert [one.weights.shape for one in together] == [(1, 4), (1, 0), (2, 1), (0, 0), (0, 2)]
    for place, (source, target) in enumerate(zip(sources, targets, strict=True)):
        (alone,) = fitted.align([source], [target])
        np.testing.assert_allclose(alone.weights, together[place].weights, atol=1e-5)
    assert fitted.align([], []) == []
    assert not fitted.model_.training


def test_a_parrot_needs_what_it_looked_at(fitted):
    """The receipt of an alignment: without the letter that was copied the copy is not written."""
    new, wanted = parrots(40, seed=3)
    found = fitted.align(new, wanted)
    receipts = [one.receipt for one in found]
    assert sum(one.verdict in ("faithful", "too short to tell") for one in receipts) >= 36
    assert sum(one.verdict == "faithful" for one in receipts) >= 20
    assert np.mean([one.mean_drop for one in receipts]) > 0.6
    assert np.mean([one.mean_random_drop for one in receipts]) < 0.4
    _, drop, better = audit_alignments(found)
    assert drop.beats_baseline and better.beats_baseline and better.value > 0.9
    assert drop.documents == 40 and drop.interval.low <= drop.value <= drop.interval.high


def near(value):
    """As near as single precision comes in another batch; how near, depends on the processor."""
    return pytest.approx(value, rel=1e-5)


def test_what_is_left_is_what_the_network_says_without_the_pieces(fitted):
    source, target = "a b c d e f", "A B C D E F"
    (found,) = fitted.align([source], [target])
    receipt = found.receipt
    assert receipt.taken == 1 and receipt.judgement.sets == 6
    for row in range(6):
        gone = int(found.weights[row].argmax())
        one = receipt.written[row]
        assert one.probability == near(likely(fitted, source, target)[row])
        assert one.without == near(likely(fitted, source, target, gone)[row])
        others = [likely(fitted, source, target, gone)[row] for gone in range(6)]
        assert one.random == near(np.mean(others))
        # What it looked at is one of these sets, and as likely but for rounding.
        assert one.p_value == np.mean(np.array(others) <= one.without + 1e-5)
    assert found.looked_at(0, 1)[0].text == source.split()[found.weights[0].argmax()]
    whole = fitted.with_receipts([found.by_words()])[0].receipt
    assert whole == receipt, "here every piece is a word"


def test_a_piece_that_follows_from_those_before_it_is_no_part_of_the_verdict(fitted):
    """004-09: asked with all of the source unknown, as captions are with all cells covered."""
    source, target = "a b c d e f", "A B C D E F"
    (found,) = fitted.align([source], [target])
    *alone, _ = likely(fitted, source, target, slice(None))  # the end is no piece
    for one, expected in zip(found.receipt.written, alone, strict=True):
        assert one.blind == near(expected)
        assert one.decided == (one.probability - expected >= LEAST_DECIDED)
    first, *rest = found.receipt.written
    written = (replace(first, blind=first.probability), *rest)
    partly = replace(found, receipt=replace(found.receipt, written=written))
    decided = [one for one in rest if one.decided]
    share, drop, better = audit_alignments([partly])
    assert share.value == pytest.approx(len(decided) / 6)
    assert drop.value == pytest.approx(np.mean([one.drop for one in decided]))
    assert better.value == np.mean([one.drop > one.random_drop for one in decided])
    none = tuple(replace(one, blind=1.0) for one in found.receipt.written)
    (share,) = audit_alignments([replace(found, receipt=replace(found.receipt, written=none))])
    assert share.name == "source_decides" and share.value == 0


def likely(fitted, source, target, gone=None):
    """The probability of each piece of the target, told all before it, with words unknown."""
    read, written = (
        cut_texts([text], units)[0].ids.copy()
        for units, text in ((fitted.source_units_, source), (fitted.target_units_, target))
    )
    if gone is not None:
        read[gone] = UNKNOWN
    batch = EncodedPairs([read], [written]).batch([0])
    with torch.no_grad():
        logits = fitted.model_.eval()(batch).logits
    logits[:, [PADDING, START]] = -torch.inf
    return logits.softmax(1)[torch.arange(len(logits)), batch.target.values].tolist()


def test_where_nothing_can_be_taken_away_nothing_is_claimed(fitted):
    sources, targets = ["a", "", "a b", "a b c d"], ["A", "B", "", "A"]
    verdicts = [one.receipt.verdict for one in fitted.align(sources, targets)]
    assert verdicts == ["too short to tell", "not measured", "not measured", "too short to tell"]
    (written,) = fitted.explain(["a b c d e"])
    assert written.receipt.written and fitted.explain("a b", receipt=False).receipt is None


def test_a_network_with_fresh_weights_is_not_faithful():
    new, wanted = parrots(40, seed=5)
    fresh = new_translator(training__epochs=1, training__learning_rate=1e-9)
    with pytest.warns(UserWarning, match="no translation yet"):
        fresh.fit(LINES, CAPITALS)
    found = fresh.align(new, wanted)
    assert sum(one.receipt.verdict == "faithful" for one in found) <= 1


def test_every_candidate_has_its_own_matrix(fitted):
    (found,) = fitted.explain_candidates(["a b c"], 4)
    (texts,) = fitted.candidates(["a b c"], 4)
    assert [one.target for one in found] == [one.text for one in texts]
    assert [one.score for one in found] == [one.score for one in texts]
    for one in found:
        assert one.weights.shape == (len(one.target.split()), 3)
        np.testing.assert_allclose(one.weights.sum(1), 1, atol=1e-5)
    assert fitted.explain_candidates([""], 3)[0][0].weights.shape == (0, 0)
    with pytest.raises(ConfigError, match="count must be at least 1"):
        fitted.explain_candidates(["a"], 0)


def test_what_cannot_be_aligned_is_an_error(fitted):
    with pytest.raises(DataError, match="1 sources cannot be paired with 2 targets"):
        fitted.align(["a"], ["A", "B"])
    blind = new_translator(network__decoder="cho", training__epochs=1, training__monitor="loss")
    blind.fit(LINES[:30], CAPITALS[:30])
    for asked in (lambda: blind.align(["a"], ["A"]), lambda: blind.explain_candidates(["a"], 2)):
        with pytest.raises(ModelError, match="has no attention"):
            asked()


def test_the_views_take_what_it_gives(fitted):
    found = fitted.explain("a b")
    assert "A" in found.to_text() and "rg-matrix" in found.to_html()
    assert aligned("a", "b").to_html()
