"""``regard export`` from the shell: what it writes, and what it refuses in one line."""

import shutil
from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parents[1] / "data"

pytest.importorskip("onnx", reason="needs the extra export")
pytest.importorskip("onnxruntime", reason="needs the extra export")


def test_a_classifier_becomes_a_folder_and_is_replaced_only_when_asked(shell, project, tmp_path):
    out = tmp_path / "onnx"
    ended = shell("export", project.model, "--to", "onnx", out)
    assert ended.code == 0, ended.err
    assert "MB; all outputs are within" in ended.err
    assert {"model.onnx", "vocab.txt", "config.json", "README.md"} <= {
        path.name for path in out.iterdir()
    }
    again = shell("export", project.model, out, "--to", "onnx")
    assert again.error == f"{out} is there already; name another, or replace it with --overwrite"
    (out / "model.onnx").write_bytes(b"old")
    (out / "server.py").write_text("mine")
    replaced = shell("export", project.model, out, "--to", "onnx", "--overwrite", "--quiet")
    assert replaced.code == 0 and not replaced.err
    assert (out / "model.onnx").stat().st_size > 1000
    assert (out / "server.py").read_text() == "mine"


def test_a_classifier_becomes_a_page_and_is_replaced_only_when_asked(shell, project, tmp_path):
    out = tmp_path / "page.html"
    ended = shell("export", project.model, "--to", "html", out)
    assert ended.code == 0, ended.err
    assert "MB; probabilities differ from the model's by at most" in ended.err
    assert out.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    again = shell("export", project.model, "--to", "html", out)
    assert again.error == f"{out} is there already; name another, or replace it with --overwrite"
    folder = shell("export", project.model, "--to", "html", tmp_path / "page")
    assert folder.code != 0


def test_what_is_no_export_is_never_replaced(shell, project, tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("all I have")
    for out, said in (
        (tmp_path / "thesis", "is no exported model"),
        (project.model / "onnx", "lies in the saved model"),
        (project.training, "is no exported model"),
    ):
        refused = shell("export", project.model, out, "--to", "onnx", "--overwrite")
        assert said in refused.error


def test_what_cannot_be_exported_is_said_in_a_line(shell, project, tmp_path):
    out = tmp_path / "out"
    unknown = shell("export", project.model, out, "--to", "onxx")
    assert unknown.error == "--to cannot be 'onxx'; did you mean 'onnx'?"
    translator = shutil.copytree(DATA / "saved_translator", tmp_path / "translator")
    foreign = shell("export", translator, out, "--to", "onnx")
    assert "holds a translator; regard export takes classifiers" in foreign.error
    assert "there is no folder" in shell("export", tmp_path / "no", out, "--to", "onnx").error
    assert not out.exists()


def test_without_the_extra_it_is_named(shell, project, tmp_path, monkeypatch):
    from regard.export import onnx_folder

    monkeypatch.setattr(onnx_folder, "find_spec", lambda name: None)
    refused = shell("export", project.model, tmp_path / "out", "--to", "onnx")
    assert "run: pip install 'regard[export]'" in refused.error
