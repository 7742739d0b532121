"""``regard train --task pretrain``: from texts to a BERT folder that everyone reads."""

import sys

from regard.estimators.bert_folder import load_bert
from support.cli_files import rows, write_csv

SMALL = [
    *("--task", "pretrain", "--epochs", "1", "--text-column", "review", "--device", "cpu"),
    *("--set", "network.hidden_size=16", "--set", "network.heads=2", "--set", "network.layers=1"),
    *("--set", "network.feed_size=16", "--set", "pieces.size=120"),
]


def test_a_bert_is_taught_described_and_gone_on_with(shell, tmp_path):
    """Texts become a folder; info tells of it, and other commands say what to do with it."""
    data, out = write_csv(tmp_path / "texts.csv", rows(60, seed=1)), tmp_path / "bert"
    told = shell("train", data, "--out", out, *SMALL)
    assert told.code == 0, told.err
    assert "54 training texts, 6 held out" in told.err
    assert "of hidden pieces" in told.err and f"saved to {out}" in told.err
    assert load_bert(out).bert.config.hidden_size == 16
    described = shell("info", out)
    assert "network.hidden_size" in described.out and "masking.longest" in described.out
    assert "milliseconds per document" in described.out and "peak memory" in described.out
    refused = shell("predict", out, data)
    assert refused.code == 1 and "holds a BERT" in refused.err and "--task bert-text" in refused.err
    again = shell(
        *("train", data, "--out", tmp_path / "more", "--task", "pretrain", "--bert", out),
        *("--epochs", "1", "--text-column", "review", "--device", "cpu"),
    )
    assert again.code == 0, again.err
    assert load_bert(tmp_path / "more").pieces.pieces == load_bert(out).pieces.pieces
    taken = shell("train", data, "--out", out, *SMALL)
    assert taken.code == 1 and "holds a model" in taken.err


def test_without_the_extra_one_line_names_it(shell, tmp_path, monkeypatch):
    """No trace, and nothing written."""
    data = write_csv(tmp_path / "texts.csv", rows(40, seed=1))
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    told = shell("train", data, "--out", tmp_path / "bert", *SMALL)
    assert told.code == 1 and "pip install 'regard[bert]'" in told.err.splitlines()[-1]
    assert not (tmp_path / "bert").exists()
