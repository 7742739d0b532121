"""The image: where no builder is at hand, its steps are read and run as a script."""

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import sysconfig
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
KNOWN = {"FROM", "RUN", "ENV", "ARG", "COPY", "USER", "EXPOSE", "HEALTHCHECK", "STOPSIGNAL"}
KNOWN |= {"ENTRYPOINT", "CMD"}


@dataclass(frozen=True)
class Step:
    """One instruction of the file, and the stage that it belongs to."""

    stage: int
    name: str
    value: str

    @property
    def words(self):
        return shlex.split(self.value)

    @property
    def listed(self):
        """The command of ``CMD ["a", "b"]``."""
        return json.loads(self.value[self.value.index("[") :])


def steps():
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    text = re.sub(r"^\s*#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", " ")
    found, stage = [], -1
    for line in filter(str.strip, text.splitlines()):
        name, _, value = line.partition(" ")
        stage += name == "FROM"
        found.append(Step(stage, name, value.strip()))
    return found


STEPS = steps()
LAST = [step for step in STEPS if step.stage == STEPS[-1].stage]


def only(name, among=LAST):
    (found,) = [step for step in among if step.name == name]
    return found


def copies():
    """What is copied into the image from the folder: sources and place."""
    for step in STEPS:
        if step.name == "COPY" and "--from" not in step.value:
            *sources, place = step.words
            yield sources, place


def test_every_instruction_is_one_that_is_checked_here():
    assert {step.name for step in STEPS} <= KNOWN
    assert STEPS[-1].stage == 1, "one stage builds, the other runs"


def test_what_is_copied_exists_and_is_not_left_out():
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split("\n")
    let_in = {line[1:] for line in ignored if line.startswith("!")}
    sources = {source for found, _ in copies() for source in found}
    assert all((ROOT / source).exists() for source in sources)
    assert "*" in ignored and sources == let_in


def test_what_is_installed_is_what_the_project_offers():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = [extra for step in STEPS for extra in re.findall(r"'/build\[([\w,]+)\]'", step.value)]
    assert asked == ["serve"] and set(asked) <= project["optional-dependencies"].keys()
    for step in (step for step in STEPS if step.name == "FROM"):
        version = re.search(r"python:([\d.]+)-slim", step.value)[1]
        assert f"Programming Language :: Python :: {version}" in project["classifiers"]


def test_it_runs_as_nobody_in_particular_and_says_how_it_is():
    user = only("USER").value
    assert re.fullmatch(r"\d+:\d+", user) and not user.startswith("0:")
    assert "RUN" not in {step.name for step in LAST}, "the last stage only takes what was built"
    assert only("EXPOSE").value in only("HEALTHCHECK").value
    assert "--port " + only("EXPOSE").value in " ".join(only("ENTRYPOINT").listed)
    assert not re.search("KEY|TOKEN|PASSWORD", " ".join(step.value for step in STEPS))


def started(program, model, port):
    """Start what the image starts, with another model and port, on loopback."""
    command = only("ENTRYPOINT").listed + only("CMD").listed
    assert command[0] == "regard"
    changed = {"0.0.0.0": "127.0.0.1", only("EXPOSE").value: str(port), "/models/model": str(model)}
    command = [changed.get(word, word) for word in command]
    return subprocess.Popen([*program, *command[1:]], stderr=subprocess.PIPE, text=True)


def healthy(port):
    """Run the health check of the image."""
    python, *arguments = only("HEALTHCHECK").listed
    assert python == "python"
    arguments = [word.replace(only("EXPOSE").value, str(port)) for word in arguments]
    return subprocess.run([sys.executable, *arguments], capture_output=True).returncode == 0


def serves(program, model):
    """Whether it starts, is healthy, stops when it is told to, and is not healthy then."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert not healthy(port)
    with started(program, model, port) as child:
        try:
            while not healthy(port):
                assert child.poll() is None, child.stderr.read()
        finally:
            child.terminate()
        child.wait(30)
    return not healthy(port)


@pytest.fixture(scope="module")
def model(fitted, tmp_path_factory):
    folder = tmp_path_factory.mktemp("image") / "model"
    fitted.save(folder)
    return folder


def test_what_the_image_starts_answers_its_health_check(model, monkeypatch):
    pytest.importorskip("fastapi", reason="needs the extra serve")
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    assert serves([sys.executable, "-m", "regard"], model)


@pytest.mark.slow
def test_the_steps_of_the_image_build_a_server(model, tmp_path):
    """Run every COPY and RUN in a folder of its own; what is installed there serves a model.

    Packages that are here already are lent to it, so that gigabytes are not downloaded again.
    """
    pytest.importorskip("fastapi", reason="needs the extra serve")
    environment = {
        **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    built = tmp_path / "opt" / "regard"
    for step in STEPS:
        if step.name == "COPY" and "--from" not in step.value:
            *sources, place = step.words
            target = tmp_path / place.strip("/")
            target.mkdir(parents=True, exist_ok=True)
            for source in sources:
                here = ROOT / source
                if here.is_dir():
                    leave = shutil.ignore_patterns("__pycache__", "*.so", "*.egg-info")
                    shutil.copytree(here, target, ignore=leave, dirs_exist_ok=True)
                else:
                    shutil.copy(here, target)
        elif step.name in ("ENV", "ARG"):
            for name, value in (word.split("=", 1) for word in step.words):
                value = value.replace("/opt/regard", str(built))
                environment[name] = os.path.expandvars(value.replace("$PATH", environment["PATH"]))
        elif step.name == "RUN" and not step.value.startswith("apt-get"):
            command = step.value.replace("/opt/", f"{tmp_path}/opt/")
            command = command.replace("/build", f"{tmp_path}/build")
            done = subprocess.run(
                command, shell=True, env=environment, cwd=tmp_path, capture_output=True, text=True
            )
            if "No matching distribution" in done.stderr or "Could not find" in done.stderr:
                pytest.skip("no package index can be reached")
            assert done.returncode == 0, done.stderr[-3000:]
            if "venv" in command:
                lent = Path(sysconfig.get_paths()["purelib"])
                (place,) = built.glob("lib/python*/site-packages")
                (place / "lent.pth").write_text(f"{lent}\n")
    (package,) = built.glob("lib/python*/site-packages/regard")
    if shutil.which("gcc"):
        assert list(package.glob("kernels/_native*.so")), "compiled where there is a compiler"
    assert serves([str(built / "bin" / "regard")], model)
