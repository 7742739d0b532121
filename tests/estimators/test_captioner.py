"""A captioner is fitted on pictures in any form, looks, is saved and found again."""

import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from regard import Captioner
from regard.data.captions import caption_pictures
from regard.errors import ConfigError, DataError, ModelError, NotFittedError
from regard.experiments.shapes import Scenes
from regard.models.show_attend_tell import ShowAttendTellConfig
from regard.nn.pictures import EfficientNetLite0
from regard.tasks.generate import GenerationConfig
from regard.text.units import UnitsConfig
from regard.training.config import TrainingConfig

Image = pytest.importorskip("PIL.Image", reason="no pillow")
pytest.importorskip("sacrebleu", reason="no sacrebleu")

SMALL = ShowAttendTellConfig(
    side=32,
    channels=16,
    halvings=3,
    embedding_size=16,
    memory_size=96,
    hidden_size=96,
    attention_size=16,
    dropout=0.0,
    decoder="luong",
)
TRAINING = TrainingConfig(
    epochs=150, batch_size=10, learning_rate=1e-2, monitor="loss", schedule="linear"
)
UNITS = UnitsConfig(kind="words", min_count=1, lowercase=True)


def jpeg(blocks):
    file = io.BytesIO()
    Image.fromarray(blocks.repeat(8, 0).repeat(8, 1)).save(file, "JPEG", quality=95)
    return file.getvalue()


@pytest.fixture(scope="module")
def pictures():
    """Four by four blocks of any colour: no two pictures are alike."""
    return [*map(jpeg, np.random.default_rng(0).integers(0, 256, (20, 4, 4, 3), dtype=np.uint8))]


@pytest.fixture(scope="module")
def captions():
    return [scene.caption for scene in Scenes.draw(20, 32, seed=3).scenes]


def made(**changes):
    settings = {"training": TRAINING, "units": UNITS, "validation": 0.0, "progress": False}
    return Captioner(SMALL, device="cpu", **{**settings, **changes})


@pytest.fixture(scope="module")
def fitted(pictures, captions):
    return made().fit(pictures, captions)


def test_twenty_pictures_are_learnt_by_heart(fitted, pictures, captions):
    """004-07: overfits twenty pictures to their exact captions, greedy and by beam."""
    assert fitted.predict(pictures, generation=GenerationConfig(method="greedy")) == captions
    assert fitted.predict(pictures) == captions
    found = fitted.evaluate(caption_pictures(pictures, captions), worst=3)
    assert found.scores.exact == 1 and found.scores.bleu_4 == pytest.approx(100)
    assert found.scores.pictures == 20 and len(found.worst) == 3
    losses = [one.loss for one in found.worst]
    assert losses == sorted(losses, reverse=True)


def test_a_picture_given_often_is_sampled_anew_each_time(fitted, pictures):
    asked = GenerationConfig(method="sample", temperature=3.0, longest=8)
    found = fitted.predict(pictures[:1] * 70, generation=asked)
    assert found[64:] != found[:6]


def test_each_word_says_which_cells_it_looked_at(fitted, pictures, captions):
    (found,) = fitted.explain(pictures[:1])
    assert found.text == captions[0]
    assert found.words == tuple(captions[0].split())
    assert found.weights.shape == (len(found.words), 16) and found.rows == found.columns == 4
    np.testing.assert_allclose(found.weights.sum(1), 1, atol=1e-5)
    assert found.receipt is not None and len(found.receipt.written) == len(found.words)
    assert found.picture[:2] == b"\xff\xd8" and (found.width, found.height) == (32, 32)


def test_how_many_cells_a_word_looked_at_leaves_the_end_out(fitted, pictures, captions):
    """An evaluation counted the look before the end too, and an explanation does not."""
    found = fitted.evaluate(caption_pictures(pictures[:4], captions[:4]), worst=0).scores
    counts = [one.effective_counts for one in fitted.explain(pictures[:4], receipt=False)]
    assert found.effective_count == pytest.approx(np.concatenate(counts).mean())


def test_a_saved_captioner_writes_the_same(fitted, pictures, tmp_path):
    fitted.save(tmp_path / "model")
    loaded = Captioner.load(tmp_path / "model", device="cpu")
    assert loaded.predict(pictures) == fitted.predict(pictures)
    assert json.loads((tmp_path / "model/config.json").read_text())["task"] == "caption"
    (tmp_path / "model/units.json").write_text("{}")
    with pytest.raises(ModelError, match="not as it was written"):
        Captioner.load(tmp_path / "model")


def test_pictures_that_cannot_be_read_are_named_and_left_out(pictures, captions):
    bad = [b"no picture", pictures[0][:200]]
    quick = made(training=TrainingConfig(epochs=1, monitor="loss"))
    with pytest.warns(UserWarning, match="2 pictures are left out.*picture 21: .*picture 22: "):
        quick.fit([*pictures, *bad], [*captions, ["a", "b"], "c"])
    assert quick.facts_["pictures_left_out"] == 2
    assert quick.facts_["training_pictures"] == 20
    found = quick.evaluate(caption_pictures([pictures[0], bad[0]], [captions[0], "a"]), worst=0)
    assert found.scores.pictures == 1 and len(found.scores.left_out) == 1
    with pytest.raises(DataError, match="picture 2: no picture"):
        quick.predict([pictures[0], b"nothing"])
    with pytest.raises(DataError, match="no pictures with captions"):
        made().fit([b"none", b"nothing"], ["a", "b"])


def test_a_picture_that_is_missing_is_counted_once_whatever_captions_it_has(
    tmp_path, pictures, captions
):
    """A file has a row for each caption, and each of them names the picture."""
    rows = ["image,caption"]
    for place, (picture, caption) in enumerate(zip(pictures, captions, strict=True)):
        (tmp_path / f"{place}.jpg").write_bytes(picture)
        rows.append(f"{place}.jpg,{caption}")
    rows += [f"missing.jpg,caption {place}" for place in range(3)]
    (tmp_path / "captions.csv").write_text("\n".join(rows))
    quick = made(training=TrainingConfig(epochs=1, monitor="loss"))
    with pytest.warns(UserWarning, match="missing.jpg: No such file"):
        quick.fit_file(tmp_path)
    assert quick.facts_["pictures_left_out"] == 1


def test_what_is_held_out_is_a_pair(pictures, captions):
    with pytest.raises(ConfigError, match="validation must be pictures and captions, got"):
        made().fit(pictures, captions, validation=0.2)


def test_several_captions_of_a_picture_stay_on_one_side(pictures, captions):
    several = [[caption, f"{caption} again"] for caption in captions]
    quick = made(training=TrainingConfig(epochs=1, monitor="bleu"), validation=0.2)
    quick.fit(pictures, several)
    assert quick.facts_["training_pictures"] == 16
    assert quick.facts_["training_captions"] == 32 and quick.facts_["validation_captions"] == 8
    assert quick.facts_["validation_bleu"] is not None


def test_what_does_not_fit_together_is_said_in_one_line(fitted, pictures, captions):
    with pytest.raises(NotFittedError, match="not fitted"):
        made().predict(pictures)
    with pytest.raises(DataError, match="20 pictures do not fit 2 captions"):
        made().fit(pictures, ["a", "b"])
    with pytest.raises(ConfigError, match="a backbone was given"):
        made(backbone="x.pth").fit(pictures, captions)
    with pytest.raises(ConfigError, match="needs a backbone"):
        Captioner(ShowAttendTellConfig(encoder="efficientnet-lite0", side=64)).fit(
            pictures, captions
        )
    with pytest.raises(DataError, match="put it in a list"):
        fitted.predict("a.jpg")


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    """Files of weights for a backbone, drawn at random: of safetensors, and of torch."""
    folder = tmp_path_factory.mktemp("weights")
    torch.manual_seed(0)
    state = EfficientNetLite0().state_dict()
    numbers = {name: part for name, part in state.items() if part.is_floating_point()}
    save_file(numbers, folder / "w.safetensors")
    torch.save(state, folder / "w.pth")
    return folder


class TestBackbone:
    """Features of a network whose weights come from a file, kept by content and weights."""

    NETWORK = replace(SMALL, encoder="efficientnet-lite0", side=64)
    QUICK = TrainingConfig(epochs=1, monitor="loss")

    def fit(self, weights, pictures, captions, **changes):
        settings = {"training": self.QUICK, "units": UNITS, "validation": 0.0, "progress": False}
        captioner = Captioner(self.NETWORK, backbone=weights, device="cpu", **settings, **changes)
        return captioner.fit(pictures[:6], captions[:6])

    def test_features_are_computed_once_and_found_by_content(
        self, weights, pictures, captions, tmp_path
    ):
        kept = tmp_path / "features"
        first = self.fit(weights / "w.safetensors", pictures, captions, features=kept)
        files = sorted(kept.rglob("*.safetensors"))
        assert len(files) == 1
        again = self.fit(weights / "w.pth", pictures, captions, features=kept)
        assert sorted(kept.rglob("*.safetensors")) == files, "nothing was computed again"
        assert again.predict(pictures[:3]) == first.predict(pictures[:3])
        files[0].write_bytes(b"cut off")
        third = self.fit(weights / "w.pth", pictures, captions, features=kept)
        assert third.predict(pictures[:3]) == first.predict(pictures[:3])

    def test_an_evaluation_looks_at_each_picture_once(self, weights, pictures, captions):
        fitted = self.fit(weights / "w.pth", pictures, captions)
        counts = []
        fitted.reader_.backbone.register_forward_hook(
            lambda network, given, made: counts.append(len(made))
        )
        several = [[caption, f"{caption} again"] for caption in captions]
        found = fitted.evaluate(caption_pictures(pictures, several), worst=20)
        assert sum(counts) == 20
        for one in found.worst:
            number = int(one.name.removeprefix("picture "))
            alone = fitted.evaluate(
                caption_pictures(pictures[number - 1 : number], several[number - 1 : number])
            )
            assert one.loss == pytest.approx(alone.scores.loss, rel=1e-4)

    def test_a_saved_folder_brings_its_backbone(self, weights, pictures, captions, tmp_path):
        fitted = self.fit(weights / "w.pth", pictures, captions)
        fitted.save(tmp_path / "model")
        assert (tmp_path / "model/backbone.safetensors").exists()
        assert not list((tmp_path / "model").glob("*.pth")), "no pickle is written"
        loaded = Captioner.load(tmp_path / "model", device="cpu")
        assert loaded.predict(pictures[:6]) == fitted.predict(pictures[:6])
        (found,) = loaded.explain(pictures[:1], receipt=False)
        assert found.weights.shape[1] == 4

    def test_what_holds_no_such_weights_is_named(self, weights, pictures, captions, tmp_path):
        odd = tmp_path / "odd.safetensors"
        save_file({"x": torch.zeros(2)}, odd)
        with pytest.raises(ModelError, match=r"does not hold the weights of efficientnet-lite0"):
            self.fit(odd, pictures, captions)
        with pytest.raises(ModelError, match="No such file"):
            self.fit(tmp_path / "none.pth", pictures, captions)
        torch.save({"x": Path}, tmp_path / "code.pth")
        with pytest.raises(ModelError, match=r"code\.pth holds no weights"):
            self.fit(tmp_path / "code.pth", pictures, captions)
