"""What every model must do, tried on small settings of each one in the table."""

import dataclasses
import json

import pytest
import torch

from regard.config import from_dict, to_dict
from regard.errors import ConfigError
from regard.models import MODELS
from regard.models.base import Hierarchical
from regard.models.importance import importance
from regard.nn.rows import row_sum
from regard.text.vocab import PADDING, UNKNOWN
from support.random_ids import LABEL_COUNT, SETTINGS, VOCAB_SIZE, batch_of, built, random_documents

DOCUMENTS = [*random_documents(6), [], [[7]], [[UNKNOWN] * 3, [UNKNOWN]], [[2, 3], [2, 3]]]
every_model = pytest.mark.parametrize("config", SETTINGS.values(), ids=SETTINGS)


def agree(found, expected, slack=1e-5):
    torch.testing.assert_close(found, expected, atol=slack, rtol=slack)


def test_every_model_is_listed_by_its_own_name():
    assert all(kind.name == name for name, kind in MODELS.items())


@every_model
class TestEveryModel:
    def test_gives_logits_for_every_document(self, config):
        """000-04: empty, one word and all unknown included."""
        logits = built(config)(batch_of(DOCUMENTS)).logits
        assert logits.shape == (len(DOCUMENTS), LABEL_COUNT)
        assert torch.isfinite(logits).all()

    def test_gives_weights_that_sum_to_one(self, config):
        """000-05, D6: a weight for every word and every sentence, row by row."""
        batch = batch_of(DOCUMENTS)
        rows = {
            ("sentence", "token"): batch.ids.lengths,
            ("document", "token"): batch.by_document.lengths,
            ("document", "sentence"): batch.sentences,
        }
        for layer in built(config)(batch).attention:
            assert torch.equal(layer.weights.lengths, rows[layer.by, layer.over])
            assert (layer.weights.values >= 0).all()
            sums = row_sum(layer.weights).view(len(layer.weights), -1)
            expected = (layer.weights.lengths > 0).float()[:, None].expand_as(sums)
            agree(sums, expected, 1e-6)

    def test_company_changes_nothing(self, config):
        """000-06, D1, D17: alone or with others, empty ones included, a document gets the same."""
        model = built(config)
        together = model(batch_of(DOCUMENTS))
        alone = [model(batch_of([document])) for document in DOCUMENTS]
        agree(together.logits, torch.cat([output.logits for output in alone]))
        for number, layer in enumerate(together.attention):
            parts = [output.attention[number].weights.values for output in alone]
            agree(layer.weights.values, torch.cat(parts))

    def test_fifty_empty_neighbours_change_nothing(self, config):
        """D1: there is no padding that could get any weight."""
        model = built(config)
        alone = model(batch_of(DOCUMENTS[:1]))
        crowded = model(batch_of([*[[]] * 25, DOCUMENTS[0], *[[]] * 25]))
        agree(crowded.logits[25:26], alone.logits)
        agree(crowded.attention[0].weights.values, alone.attention[0].weights.values)

    def test_gives_the_same_in_batches_of_one_seven_and_sixty_four(self, config):
        """000-06, 000-07: the last batch may be smaller, and nothing is carried over."""
        model, documents = built(config), random_documents(20, seed=3)
        whole = model(batch_of(documents)).logits
        for size in (1, 7, 64):
            parts = [documents[start : start + size] for start in range(0, len(documents), size)]
            agree(torch.cat([model(batch_of(part)).logits for part in parts]), whole)

    def test_takes_an_empty_batch(self, config):
        output = built(config)(batch_of([]))
        assert output.logits.shape == (0, LABEL_COUNT)
        output.logits.sum().backward()

    def test_takes_documents_that_are_all_empty(self, config):
        output = built(config)(batch_of([[], []]))
        agree(output.logits[0], output.logits[1], 0)
        assert torch.isfinite(output.logits).all()

    def test_reads_vectors_as_it_reads_words(self, config):
        """The entrance for gradients gives what the quick way gives."""
        model, batch = built(config), batch_of(DOCUMENTS)
        quick, slow = model(batch), model.from_vectors(model.embed(batch), batch)
        agree(quick.logits, slow.logits)
        for one, other in zip(quick.attention, slow.attention, strict=True):
            agree(one.weights.values, other.weights.values)

    def test_reads_in_mixed_precision(self, config):
        """Weights still sum to one, since they are not rounded to half."""
        model, batch = built(config), batch_of(DOCUMENTS)
        exact = model(batch).logits
        with torch.autocast("cpu", dtype=torch.bfloat16):
            output = model(batch)
        torch.testing.assert_close(output.logits.float(), exact, atol=0.05, rtol=0.05)
        sums = row_sum(output.attention[0].weights).flatten()
        assert ((sums - 1).abs() < 1e-6).logical_or(sums == 0).all()
        output.logits.float().sum().backward()
        assert torch.isfinite(model.classify.weight.grad).all()
        if model.embedding.weight.requires_grad:
            assert torch.isfinite(model.embedding.weight.grad).all()

    def test_gradient_reaches_every_parameter(self, config):
        """000-04: and every word of the batch, but never the padding or an absent word."""
        model = built(config)
        batch = batch_of(random_documents(8, seed=1))
        output = model(batch)
        penalty = 0 if output.penalty is None else output.penalty
        (output.logits.square().sum() + penalty).backward()
        for name, parameter in model.named_parameters():
            if parameter.requires_grad:
                assert parameter.grad is not None and torch.isfinite(parameter.grad).all(), name
        if model.embedding.weight.requires_grad:
            moved = model.embedding.weight.grad[:VOCAB_SIZE].abs().sum(1) > 0
            assert torch.equal(moved.nonzero().flatten(), batch.ids.values.unique())
        assert not model.embedding.weight[PADDING].any()

    def test_same_seed_same_bits(self, config):
        """D14: nothing is left as the memory was found, and nothing else is random."""
        batch = batch_of(DOCUMENTS)
        first, second = built(config), built(config)
        for one, other in zip(first.parameters(), second.parameters(), strict=True):
            assert torch.isfinite(one).all()
            assert torch.equal(one, other)
        assert torch.equal(first(batch).logits, second(batch).logits)

    def test_settings_survive_json(self, config):
        """000-06."""
        text = json.dumps(to_dict(config))
        assert from_dict(type(config), json.loads(text)) == config

    def test_weights_survive_their_state(self, config):
        batch = batch_of(DOCUMENTS)
        model, other = built(config), built(config, seed=1)
        other.load_state_dict(model.state_dict())
        assert torch.equal(model(batch).logits, other(batch).logits)

    def test_imposed_weights_are_used(self, config):
        model, batch = built(config), batch_of(DOCUMENTS)
        own = model(batch)
        for layer in own.attention:
            given = torch.flip(layer.weights.values, [0]) + 0.1
            output = model(batch, {layer.name: given})
            used = {other.name: other.weights.values for other in output.attention}
            assert torch.equal(used[layer.name], given)
            assert not torch.allclose(output.logits, own.logits)

    def test_imposing_its_own_weights_changes_nothing(self, config):
        if getattr(config, "pooling", None) == "max":
            config = dataclasses.replace(config, pooling="attention")
        model, batch = built(config), batch_of(DOCUMENTS)
        own = model(batch)
        impose = {layer.name: layer.weights.values for layer in own.attention}
        agree(model(batch, impose).logits, own.logits)

    def test_weights_for_an_unknown_layer_are_refused(self, config):
        batch = batch_of(DOCUMENTS)
        with pytest.raises(ConfigError, match=r"no attention 'wrd'.*did you mean 'word'"):
            built(config)(batch, {"wrd": torch.ones(3)})
        with pytest.raises(ConfigError, match="but 3 weights were given"):
            built(config)(batch, {"word": torch.ones(3)})

    def test_importance_sums_to_one_over_a_document(self, config):
        """001-13."""
        batch = batch_of(DOCUMENTS)
        output = built(config)(batch)
        for corrected in (False, True):
            words = importance(output, batch, length_corrected=corrected)
            assert torch.equal(words.lengths, batch.by_document.lengths)
            agree(row_sum(words), (words.lengths > 0).double(), 1e-6)

    def test_learns_ten_documents_by_heart(self, config):
        """000-04, 001-06, 001-12."""
        documents = [[[3 + number], *rest] for number, rest in enumerate(random_documents(10))]
        batch = batch_of(documents, torch.arange(10) % LABEL_COUNT)
        model = built(config).train()
        learnt = config.name == "bert-han" and not config.frozen
        rate = 0.005 if learnt else 0.02  # where norms stand after the sums, less is more
        optimizer = torch.optim.Adam(model.parameters(), lr=rate)
        for _ in range(100):
            loss = torch.nn.functional.cross_entropy(model(batch).logits, batch.labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        assert torch.equal(model.eval()(batch).logits.argmax(1), batch.labels)

    def test_sentence_vectors_are_an_entrance(self, config):
        model, batch = built(config), batch_of(DOCUMENTS)
        if not isinstance(model, Hierarchical):
            assert all(layer.over == "token" for layer in model(batch).attention)
            return
        sentences = model.sentence_vectors(batch)
        assert torch.equal(sentences.lengths, batch.sentences)
        agree(model.from_sentences(sentences).logits, model(batch).logits)

    def test_a_sentence_vector_may_be_kept_where_it_is_isolated(self, config):
        """Whoever says so gives each sentence the same vector in any other company."""
        model, batch = built(config), batch_of(DOCUMENTS)
        if not isinstance(model, Hierarchical):
            return
        together = model.sentence_vectors(batch).values
        each = [[sentence] for document in DOCUMENTS for sentence in document]
        alone = model.sentence_vectors(batch_of(each)).values
        assert model.isolated == torch.allclose(together, alone, atol=1e-5)


@every_model
def test_any_length_is_read(config):
    """D18, 001-02: one long sentence and many short ones, by the same weights."""
    model = built(config)
    long = [[(number % (VOCAB_SIZE - 1)) + 1 for number in range(2000)], *[[2]] * 50]
    logits = model(batch_of([long, [[2]]])).logits
    assert torch.isfinite(logits).all()
    agree(logits[1:], model(batch_of([[[2]]])).logits)
