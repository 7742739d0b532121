"""What each file of results measured: where a change of the code may change its figures.

A figure is older than the code when code that it measured has changed since its commit. Comments,
docstrings and layout are no change, and neither is a new function by itself: whoever calls it has
changed. Of a long module names may be given, "module.py: this that": then these definitions alone
count. Kernels count where time or memory is measured: for all other figures the plain code says
what they compute, and tests hold them to it.
"""

from __future__ import annotations

import ast
import functools
import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = "src/regard"


def inside(folder: str, names: str) -> tuple[str, ...]:
    """Some modules of a folder."""
    return tuple(f"{folder}/{name}.py" for name in names.split())


READING = inside("text", "characters encode sentences spelling tokenize vocab words")
STEPS = inside("training", "averaging batches config loop optimizers row_adam seeds state")
LAYERS = (*inside("nn", "attention dropout encoders packing rows"), "nn/recurrence")
HAN = (*LAYERS, *inside("nn", "levels pooling table_rows"), *inside("models", "base han words"))
LEARNING = (
    *STEPS,
    *inside("training", "word_vectors"),
    *inside("tasks", "calibration classify loss"),
    *inside("estimators", "own_vectors recipes trainer training_documents"),
    *inside("data", "batches splits"),
    "estimators/members.py",
    "estimators/classifier.py: fit_documents _prepare _train _find_start _find_vectors "
    "_answer_held_out _widen",
)
LEARNING_NGRAMS = ("estimators/wide.py", "training/ngrams.py", "tasks/linear.py")
NGRAMS = (*inside("models", "ngrams wide"), *LEARNING_NGRAMS, "text/spelling.py")
CLASSIFIER = (*READING, *HAN, *LEARNING, *NGRAMS)
ASKING = inside("explain", "answers attention erasing erasure gradients methods rankings shares")
EXPLAINING = (*ASKING, *inside("explain", "receipts verdicts"), "estimators/default_method.py")
CHOSEN = (*CLASSIFIER, *EXPLAINING)
KERNELS = ("kernels/c", "kernels/cpu", "kernels/ngrams", "kernels/scan", "kernels/native.py")
ANSWERING = (*READING, *HAN, *inside("models", "ngrams reader wide"), *KERNELS)
WRITING = (
    *inside("nn/decoding", "decoders memory search writing"),
    *inside("models", "seq2seq"),
    *inside("tasks", "generate"),
    *LAYERS,
)
TRANSLATING = (*WRITING, *STEPS, *inside("estimators", "trainer training_pairs writer"))
TRANSLATING = (*TRANSLATING, "text/units.py")
TRANSFORMER = inside("nn", "multihead positions transformer")
BERT = (*TRANSFORMER, "models/bert.py", *inside("text", "pieced pieces"), *STEPS)
CAPTIONS = (
    *inside("models", "picture_reader show_attend_tell"),
    *inside("nn/decoding", "decoders memory search stacks writing"),
    *inside("tasks", "captions generate"),
    "nn/pictures.py",
    *STEPS,
)
SHAPES = (*CAPTIONS, "experiments/shapes.py", "explain/caption_receipts.py")
CAPTIONER = (*CAPTIONS, *inside("estimators", "captioner training_captions"), "data/captions.py")

MODULES: dict[str, tuple[str, ...]] = {
    "accuracy": CLASSIFIER,
    "addition": (*WRITING, *STEPS, *inside("experiments", "addition teaching")),
    "auditing": (*ANSWERING, *EXPLAINING, "audit"),
    "baseline": ("tasks/baselines.py",),
    "bert": (
        *BERT,
        *inside("models", "tuned_bert"),
        *inside("data", "masking spans tuning"),
        *inside("estimators", "bert_usages pretraining trainer tuning"),
        *inside("tasks", "pretrain spans tuning"),
    ),
    "bert_han": (
        *BERT,
        *LEARNING,
        *NGRAMS,
        *inside("models", "bert_han"),
        *inside("estimators", "pretrained pretraining"),
        "data/sentence_store.py",
    ),
    "ceiling": (*CHOSEN, *inside("audit", "opponents plausibility")),
    "comparing": (
        *CHOSEN,
        *inside("models", "bert_han cahan fasttext flat hierarchical_transformer"),
        *TRANSFORMER,
        "arena",
        "tasks/baselines.py",
    ),
    "decoding": (*WRITING, *KERNELS[:2]),
    "demo": (*CLASSIFIER, "data/docstrings.py", "tasks/baselines.py"),
    "emphasis": (*READING, *NGRAMS, "tasks/calibration.py"),
    "erasure": (*inside("explain", "erasing lime"), *HAN, *KERNELS[:2]),
    "explaining": (*ANSWERING, *EXPLAINING),
    "export": inside("export", "equations graph onnx_folder reader"),
    "export-html": (*inside("export", "contents html_page packing rounding"), "export/assets"),
    "few_pairs": TRANSLATING,
    "flickr8k": CAPTIONER,
    "flickr8k-transformer": (*CAPTIONER, *TRANSFORMER, "nn/decoding/transformer.py"),
    "flickr8k-search": (*CAPTIONS, "data/captions.py"),
    "found-texts": CLASSIFIER,
    "gpu-recurrence": ("kernels/gpu",),
    "gpu-training-bfloat16": (*HAN, *LEARNING, "kernels/gpu"),
    "gpu-training-float32": (*HAN, *LEARNING, "kernels/gpu"),
    "killed": (*inside("scale", "labelling rays"), "data/shards.py", "data/writers.py"),
    "korean": TRANSLATING,
    "lexicon": (*CLASSIFIER, "explain/attention.py"),
    "marks": (*CLASSIFIER, "estimators/marked.py"),
    "memory": (*HAN, *STEPS, *KERNELS[:2]),
    "movies": (*CHOSEN, *inside("audit", "faithfulness opponents plausibility")),
    "multi30k": TRANSLATING,
    "nearest-words": CLASSIFIER,
    "marked-words": ("audit/plausibility.py", "records/weights.py"),
    "reasons": (*CLASSIFIER, "estimators/marked.py"),
    "letters-of-new": CLASSIFIER,
    "recipes": CLASSIFIER,
    "needle": (*CHOSEN, "audit/needle.py"),
    "other-films": CLASSIFIER,
    "other-sets": CLASSIFIER,
    "packages": CLASSIFIER,
    "papers": (
        *BERT,
        *HAN,
        *LEARNING,
        *NGRAMS,
        *inside("models", "bert_han"),
        *inside("estimators", "pretrained"),
        "data/columns.py: texts to_document join_texts _to_text",
    ),
    "people": inside("audit", "plausibility"),
    "planted": CHOSEN,
    "planted-words": CHOSEN,
    "pooling": (*CLASSIFIER, "models/cahan.py"),
    "pooling-few": (*CLASSIFIER, "models/cahan.py"),
    "rare-words": (*LEARNING_NGRAMS, "models/ngrams.py", "text/vocab.py"),
    "receipts": (*ANSWERING, *EXPLAINING),
    "row-updates": (*STEPS, "nn/table_rows.py", *KERNELS[:2]),
    "scaling": (*ANSWERING, *LEARNING, "data/corpus"),
    "scoring": (*inside("scale", "labelling rays"), "data/shards.py", *ANSWERING),
    "sentences": inside("text", "characters sentences tokenize words"),
    "seq2seq": (*WRITING, *STEPS, *KERNELS[:2]),
    "server-memory": ("serve", "models/reader.py", "explain/fitted.py"),
    "serving": ("serve", "models/reader.py", "explain/fitted.py"),
    "shapes": SHAPES,
    "shapes-two-cores": SHAPES,
    "speed-1-threads": (*ANSWERING, *STEPS),
    "startup": ("cli", "__init__.py", "__main__.py"),
    "threads": (*ANSWERING, *STEPS),
    "transformer": (*TRANSFORMER, "models/transformer.py", "nn/decoding/transformer.py"),
    "trust": (*CLASSIFIER, *ASKING, "audit/faithfulness.py", "explain/receipts.py"),
    "trust-seeds": (*CLASSIFIER, *ASKING, "audit/faithfulness.py", "explain/receipts.py"),
    "unknown-words": CLASSIFIER,
    "verdict": (*CHOSEN, "audit/faithfulness.py"),
    "versions": (*ANSWERING, *LEARNING, *NGRAMS, *WRITING),
    "voting": (*HAN, *LEARNING, "arena/voting.py"),
    "wide-cost": (*CLASSIFIER, *KERNELS),
}
"""By the name of a file of results, modules and folders under src/regard."""


def changed_since(commit: str, name: str) -> list[str]:
    """Which modules that a file of results measured have changed since a commit.

    One that git does not know may be anything: then all of them have.
    """
    known = _git("cat-file", "-e", f"{commit}^{{commit}}")
    if known.returncode:
        return ["all of it: git does not know the commit"]
    changed = set(_changed_files(commit))
    found = [one for place in MODULES[name] for one in _changed(commit, place, changed)]
    return sorted(set(found))


def _changed(commit: str, place: str, changed: set[str]) -> Iterator[str]:
    path, _, names = place.partition(": ")
    for file in changed:
        if file == f"{SOURCE}/{path}" or file.startswith(f"{SOURCE}/{path}/"):
            now = (ROOT / file).read_text("utf-8") if (ROOT / file).exists() else ""
            if has_changed(file, _earlier(commit, file), now, names.split()):
                yield file.removeprefix(f"{SOURCE}/")


def has_changed(file: str, earlier: str, now: str, names: Sequence[str] = ()) -> bool:
    """Whether a module does something else than before, or one of these definitions of it does."""
    before, after = parts_of(file, earlier), parts_of(file, now)
    if names:
        before, after = (
            {key: part for key, part in some.items() if key.split(".")[-1] in names}
            for some in (before, after)
        )
    new = after.keys() - before.keys()
    return any(after.get(key) != part for key, part in before.items()) or any(
        not after[key].startswith(("FunctionDef(", "AsyncFunctionDef(")) or key.endswith("__")
        for key in new
    )


@functools.cache
def _changed_files(commit: str) -> tuple[str, ...]:
    told = _git("diff", "--name-only", commit, "--", SOURCE)
    return tuple(told.stdout.splitlines())


@functools.cache
def _earlier(commit: str, file: str) -> str:
    return _git("show", f"{commit}:{file}").stdout


def _git(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8")


@functools.cache
def parts_of(file: str, text: str) -> dict[str, str]:
    """A module in parts, without what a computer does not read; each by its name.

    The parts of a Python module are its functions and methods, what else stands in a class, and
    what else stands outside. Any other file is one part, and one that is only read by people none.
    """
    if file.endswith(".py"):
        return {name: ast.dump(node) for name, node in _definitions("", ast.parse(text))}
    if file.endswith((".c", ".h", ".js")):
        text = re.sub(r"/\*.*?\*/|^\s*//[^\n]*", "", text, flags=re.DOTALL | re.MULTILINE)
        return {"": " ".join(text.split())}
    return {}


def _definitions(name: str, node: ast.Module | ast.ClassDef) -> Iterator[tuple[str, ast.AST]]:
    """The parts of a module or class, and what is left of it."""
    rest: list[ast.stmt] = []
    for one in node.body:
        if isinstance(one, ast.ClassDef):
            yield from _definitions(f"{name}{one.name}.", one)
        elif isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
            for inner in ast.walk(one):
                if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                    inner.body = [line for line in inner.body if not _is_text(line)]
            yield name + one.name, one
        elif not _is_text(one) and not _names_names(one):
            rest.append(one)
    node.body = rest
    yield name, node


def _names_names(node: ast.stmt) -> bool:
    """Whether a statement only says which names there are: an import, or ``__all__``."""
    if isinstance(node, ast.Assign):
        return [ast.unparse(one) for one in node.targets] == ["__all__"]
    return isinstance(node, ast.Import | ast.ImportFrom)


def _is_text(node: ast.stmt) -> bool:
    """Whether a statement is nothing but a text, as docstrings are."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
