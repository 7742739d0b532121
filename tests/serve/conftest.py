"""A server that runs in this process, on a port of its own, and plain requests to it."""

import http.client
import json
import threading
from dataclasses import dataclass

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")
uvicorn = pytest.importorskip("uvicorn", reason="needs the extra serve")

from regard.serve.app import build_app  # noqa: E402
from regard.serve.run import options  # noqa: E402
from regard.serve.settings import ServeSettings  # noqa: E402
from support.parrots import new_translator, parrots  # noqa: E402


@dataclass(frozen=True)
class Address:
    """Where a server listens."""

    port: int

    def ask(self, path, body=None, *, method=None, headers=()):
        """Send one request; return status, headers and body, decoded if it is JSON."""
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        usual = {"content-type": "application/json"} if body is not None else {}
        method = method or ("GET" if body is None else "POST")
        line.request(method, path, body, {**usual, **dict(headers)})
        answer = line.getresponse()
        content = answer.read()
        line.close()
        if content and answer.headers.get_content_type() == "application/json":
            content = json.loads(content)
        return answer.status, answer.headers, content


@pytest.fixture(scope="session")
def model_folder(fitted, tmp_path_factory):
    """Return a saved model; nobody may change the folder."""
    folder = tmp_path_factory.mktemp("serving") / "reviews"
    fitted.save(folder)
    return folder


@pytest.fixture(scope="session")
def tags_folder(fitted_tags, tmp_path_factory):
    """Return a saved model of several labels a document; nobody may change the folder."""
    folder = tmp_path_factory.mktemp("serving") / "tags"
    fitted_tags.save(folder)
    return folder


@pytest.fixture(scope="session")
def start():
    """Return a function that starts a server with settings and returns its address."""
    running = []

    def starting(**settings):
        given = ServeSettings(**{"quiet": True, **settings})
        server = uvicorn.Server(uvicorn.Config(build_app(given), **{**options(given), "port": 0}))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        while not server.started:
            assert thread.is_alive()
            thread.join(0.01)
        running.append((server, thread))
        return Address(server.servers[0].sockets[0].getsockname()[1])

    yield starting
    for server, thread in running:
        server.should_exit = True
        thread.join(20)


@pytest.fixture(scope="session")
def server(start, model_folder, tmp_path_factory):
    """Return the address of a server with one model and marks."""
    marks = tmp_path_factory.mktemp("marks") / "marks.sqlite"
    return start(models={"reviews": str(model_folder)}, marks=str(marks))


@pytest.fixture(scope="session")
def translator_folder(tmp_path_factory):
    """Return a saved translator that has learnt next to nothing; nobody may change the folder."""
    lines, capitals = parrots(30)
    folder = tmp_path_factory.mktemp("serving") / "parrot"
    made = new_translator(training__epochs=1, validation=0.0, progress=False)
    made.fit(lines, capitals).save(folder)
    return folder


@pytest.fixture(scope="session")
def captioner_folder(tmp_path_factory):
    """Return a saved captioner that has learnt next to nothing; nobody may change the folder."""
    pytest.importorskip("PIL", reason="no pillow")
    pytest.importorskip("sacrebleu", reason="no sacrebleu")
    from regard import Captioner
    from regard.experiments.shapes import Scenes
    from regard.models.show_attend_tell import ShowAttendTellConfig
    from regard.text.units import UnitsConfig

    small = ShowAttendTellConfig(side=32, channels=8, halvings=3, embedding_size=8, memory_size=16)
    units = UnitsConfig(kind="words", min_count=1, lowercase=True)
    made = Captioner(small, units=units, device="cpu", progress=False, validation=0.0)
    made.set_params(training__epochs=2, training__monitor="loss")
    scenes = Scenes.draw(12, 32, seed=3)
    folder = tmp_path_factory.mktemp("serving") / "shapes"
    pictures = [one.pixels.transpose(1, 2, 0) for one in scenes.scenes]
    made.fit(pictures, [one.caption for one in scenes.scenes]).save(folder)
    return folder


@pytest.fixture(scope="session")
def writers(start, model_folder, translator_folder, captioner_folder, tmp_path_factory):
    """Return the address of a server with a model of each kind, and marks."""
    marks = tmp_path_factory.mktemp("marks") / "marks.sqlite"
    folders = (model_folder, translator_folder, captioner_folder)
    return start(models={folder.name: str(folder) for folder in folders}, marks=str(marks))
