"""Captioners from the shell: trained on a folder, asked about pictures, judged, described."""

import json

import numpy as np
import pytest

from regard.experiments.shapes import Scenes

Image = pytest.importorskip("PIL.Image", reason="no pillow")
pytest.importorskip("sacrebleu", reason="no sacrebleu")

SMALL = [
    *("network.side=32", "network.channels=8", "network.memory_size=8", "network.hidden_size=8"),
    *("network.embedding_size=8", "network.attention_size=8", "units.min_count=1"),
    *("training.epochs=8", "training.batch_size=8", "generation.longest=12"),
    *("training.learning_rate=0.01", "training.monitor=loss"),
]
CHANGES = [part for change in SMALL for part in ("--set", change)]


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    """A folder of pictures with two captions each, one of them broken."""
    folder = tmp_path_factory.mktemp("pictures")
    lines = ["image,caption"]
    for number, scene in enumerate(Scenes.draw(24, 32, seed=0).scenes):
        Image.fromarray(scene.pixels.transpose(1, 2, 0)).save(folder / f"{number}.png")
        lines += [f"{number}.png,{scene.caption}", f"{number}.png,there is {scene.caption}"]
    (folder / "broken.png").write_bytes(b"nothing")
    lines += ["broken.png,a lost picture", "missing.png,a picture that never was"]
    (folder / "captions.csv").write_text("\n".join(lines))
    return folder


@pytest.fixture(scope="module")
def model(pictures, tmp_path_factory):
    from typer.testing import CliRunner

    from regard.cli.main import app

    out = tmp_path_factory.mktemp("models") / "model"
    asked = ["train", str(pictures), "--task", "caption", "--out", str(out), "--device", "cpu"]
    found = CliRunner().invoke(app, [*asked, *CHANGES])
    assert found.exit_code == 0, found.output
    return out, found.output


def invoke(*arguments):
    from typer.testing import CliRunner

    from regard.cli.main import app

    return CliRunner().invoke(app, [*map(str, arguments)])


def test_training_names_the_pictures_that_cannot_be_read_and_goes_on(model):
    """Broken pictures are reported by name, never fatal."""
    out, said = model
    assert "2 pictures are left out" in said
    assert "broken.png: no picture" in said and "missing.png: No such file" in said
    assert "best epoch" in said and f"regard caption {out}" in said
    about = json.loads((out / "config.json").read_text())
    assert about["task"] == "caption" and about["facts"]["training_pictures"] < 24


@pytest.mark.parametrize("suffix", ["html", "png", "json"])
def test_a_picture_gets_a_caption_and_a_page(model, pictures, tmp_path, suffix):
    out = tmp_path / f"page.{suffix}"
    found = invoke("caption", model[0], pictures / "3.png", "--out", out, "--device", "cpu")
    assert found.exit_code == 0, found.output
    content = out.read_bytes()
    if suffix == "html":
        assert b"data:image/jpeg;base64," in content and b"rg-veil" in content
    elif suffix == "png":
        assert content[1:4] == b"PNG"
    else:
        (told,) = json.loads(content)
        np.testing.assert_allclose(np.sum(told["weights"], 1), 1, atol=1e-4)
        assert told["receipt"]["judgement"]["verdict"]


def test_a_folder_is_captioned_without_what_is_broken(model, pictures):
    found = invoke("caption", model[0], pictures, "--no-receipt", "--beam", 1, "--device", "cpu")
    assert found.exit_code == 0, found.output
    assert "left out: " in found.output and "broken.png" in found.output
    assert all(f"{number}.png" in found.output for number in range(24))


def test_a_captioner_that_looks_at_all_cells_alike_writes_and_shows_no_place(pictures, tmp_path):
    out = tmp_path / "model"
    asked = ["train", pictures, "--task", "caption", "--out", out, "--device", "cpu"]
    found = invoke(*asked, *CHANGES, "--set", "network.attention=mean", "--epochs", 1)
    assert found.exit_code == 0, found.output
    told = invoke("caption", out, pictures / "3.png", "--device", "cpu", "-q")
    assert told.exit_code == 0 and "3.png: " in told.stdout
    refused = invoke("caption", out, pictures / "3.png", "--out", tmp_path / "page.html")
    assert "looks at all cells alike" in str(refused.exception)


def test_an_evaluation_shows_the_worst_first(model, pictures, tmp_path):
    out = tmp_path / "errors.html"
    found = invoke("evaluate", model[0], pictures, "--out", out, "--device", "cpu")
    assert found.exit_code == 0, found.output
    assert "BLEU-1" in found.output and "2 pictures could not be read" in found.output
    page = out.read_text()
    assert "People wrote" in page and page.count('class="regard rg-captioned"') == 24
    told = invoke("evaluate", model[0], pictures, "--json", "--device", "cpu", "-q")
    assert json.loads(told.stdout)["pictures"] == 24


def test_what_it_is_not_for_is_said(model, pictures, tmp_path):
    told = invoke("explain", model[0], "--text", "a dog")
    assert "holds a captioner" in str(told.exception) and "regard caption" in str(told.exception)
    told = invoke("caption", model[0], tmp_path / "none.jpg", "--device", "cpu")
    assert "none of the pictures can be read" in str(told.exception)
    asked = ["train", pictures, "--task", "caption", "--out", tmp_path / "m"]
    told = invoke(*asked, "--model", "pretrained")
    assert "needs --backbone" in str(told.exception)
    told = invoke("info", model[0])
    assert "show-attend-tell" in told.output and "network.attention" in told.output
