"""Models are replaced by new versions of their folders, and nobody notices but by the answers."""

import asyncio

import pytest

from regard.errors import ConfigError, ModelError
from regard.serve.settings import ServeSettings, name_models
from regard.serve.shelf import Shelf
from support.reviews import reviews, tiny


@pytest.fixture
def shelf(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    made = Shelf(ServeSettings(models={"model": str(tmp_path / "model")}))
    made.load()
    return made


def ask(shelf, text="the film was dull"):
    return shelf.find(None, "predict").queues["predict"].ask([text])


def test_a_new_version_takes_the_place_of_the_old(shelf, tmp_path):
    async def run():
        before = await ask(shelf)
        assert not await shelf.refresh("model")
        tiny(training__epochs=1).fit(*reviews(40, classes=("a", "b", "c"))).save(tmp_path / "model")
        # What is asked while the new one is loaded is answered by one or the other.
        asked = [asyncio.create_task(ask(shelf)) for _ in range(5)]
        assert await shelf.refresh("model")
        for one in asked:
            assert (await one)[0]["probabilities"].keys() in ({"bad", "good"}, {"a", "b", "c"})
        after = await ask(shelf)
        await shelf.close()
        return before, after

    before, after = asyncio.run(run())
    assert before[0]["probabilities"].keys() == {"bad", "good"}
    assert after[0]["probabilities"].keys() == {"a", "b", "c"}


def test_a_version_that_cannot_be_loaded_is_left(shelf, tmp_path):
    config = tmp_path / "model" / "config.json"
    config.write_text(config.read_text(encoding="utf-8")[:-20], encoding="utf-8")

    async def run():
        assert not await shelf.refresh("model")
        return await ask(shelf)

    assert asyncio.run(run())[0]["labels"] == ["bad"]
    assert shelf.problems == {"model": "ModelError"}


def test_a_folder_that_is_away_for_a_moment_changes_nothing(shelf, tmp_path):
    (tmp_path / "model" / "config.json").rename(tmp_path / "config.json")
    assert not asyncio.run(shelf.refresh("model"))


def test_a_model_that_cannot_be_loaded_is_an_error_at_the_start(tmp_path):
    with pytest.raises(ModelError):
        Shelf(ServeSettings(models={"none": str(tmp_path)})).load()


def test_models_are_called_by_their_folders(tmp_path):
    one, other = tmp_path / "a" / "model", tmp_path / "b" / "model"
    assert list(name_models([one, other])) == ["model", "b-model"]
    assert list(name_models([one, one])) == ["model"]
    with pytest.raises(ConfigError, match="two models"):
        name_models([one, other, tmp_path / "c" / "b" / "model"])
