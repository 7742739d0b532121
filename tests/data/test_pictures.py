"""Pictures of every kind are read upright and in colour; what cannot be read is named."""

import io
import struct
import sys
import zlib

import numpy as np
import pytest

from regard.data.pictures import PictureFile, decode_picture, draw_small, open_picture
from regard.errors import DataError, MissingExtra

Image = pytest.importorskip("PIL.Image", reason="no pillow")

RED, BLUE = (220, 20, 20), (20, 20, 220)


def two_halves(width=40, height=20):
    """Red at the left, blue at the right."""
    array = np.zeros((height, width, 3), np.uint8)
    array[:, : width // 2], array[:, width // 2 :] = RED, BLUE
    return Image.fromarray(array)


def written(image, kind="PNG", **options):
    file = io.BytesIO()
    image.save(file, kind, **options)
    return PictureFile(f"picture.{kind.lower()}", file.getvalue())


def corner(pixels, down, across):
    side = pixels.shape[1]
    return pixels[:, down * (side - 1), across * (side - 1)].astype(int)


def near(found, colour):
    return np.abs(found - np.array(colour)).max() < 60


@pytest.mark.parametrize("mode", ["RGB", "CMYK", "P", "RGBA", "YCbCr"])
def test_colours_are_the_same_however_they_are_kept(mode):
    kind = {"CMYK": "JPEG", "YCbCr": "JPEG"}.get(mode, "PNG")
    pixels = decode_picture(written(two_halves().convert(mode), kind), side=16)
    assert pixels.shape == (3, 16, 16) and pixels.dtype == np.uint8
    assert near(corner(pixels, 0, 0), RED) and near(corner(pixels, 1, 1), BLUE)


@pytest.mark.parametrize("mode", ["L", "1", "I;16", "LA"])
def test_grey_is_three_equal_colours(mode):
    values = np.tile(np.linspace(0, 255, 32).astype(np.uint8), (8, 1))
    grey = Image.fromarray(values)
    given = (
        Image.fromarray(values.astype(np.uint16) * 257) if mode == "I;16" else grey.convert(mode)
    )
    pixels = decode_picture(written(given), side=8).astype(int)
    assert (pixels[0] == pixels[1]).all() and (pixels[1] == pixels[2]).all()
    assert pixels[0, 0, 0] < 40 and pixels[0, 0, -1] > 215


@pytest.mark.parametrize("kind", ["CMYK", "sideways", "float"])
def test_a_picture_of_pillow_is_read_like_its_file(kind):
    """A camera may have been held sideways, and PNG, in which we keep it, does not hold all."""
    if kind == "sideways":
        turned = Image.Exif()
        turned[0x0112] = 6
        file = written(two_halves(), "JPEG", exif=turned)
    elif kind == "CMYK":
        file = written(two_halves().convert("CMYK"), "JPEG")
    else:
        file = written(Image.fromarray(np.eye(8, dtype=np.float32)), "TIFF")
    given = open_picture(Image.open(io.BytesIO(file.content)))
    found, expected = (decode_picture(one, side=16).astype(int) for one in (given, file))
    assert np.abs(found - expected).max() < 30
    assert draw_small(given)[1:] == draw_small(file)[1:]


def test_a_picture_of_pillow_that_is_empty_is_an_error_that_names_it():
    with pytest.raises(DataError, match="picture 3: "):
        open_picture(np.zeros((0, 3, 3), np.uint8), name="picture 3")


def test_without_pillow_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MissingExtra, match=r"regard\[images\]"):
        decode_picture(PictureFile("picture", b""), side=8)
    with pytest.raises(MissingExtra, match=r"regard\[images\]"):
        draw_small(PictureFile("picture", b""))


def test_a_camera_that_was_held_sideways_is_turned_upright():
    exif = Image.Exif()
    exif[0x0112] = 6  # turn a quarter to the right
    pixels = decode_picture(written(two_halves(), "JPEG", exif=exif, quality=95), side=16)
    assert near(corner(pixels, 0, 0), RED) and near(corner(pixels, 0, 1), RED)
    assert near(corner(pixels, 1, 0), BLUE) and near(corner(pixels, 1, 1), BLUE)
    _, width, height = draw_small(written(two_halves(), "JPEG", exif=exif))
    assert (width, height) == (20, 40)


def test_a_single_pixel_is_a_picture():
    pixels = decode_picture(written(Image.new("RGB", (1, 1), RED)), side=8)
    assert near(corner(pixels, 0, 0), RED) and near(corner(pixels, 1, 1), RED)


def test_what_is_transparent_is_white():
    pixels = decode_picture(written(Image.new("RGBA", (4, 4), (*RED, 0))), side=4)
    assert (pixels == 255).all()


def huge():
    """A PNG of 100,000 by 100,000 pixels in a hundred bytes: only its head says so."""

    def chunk(kind, data):
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = struct.pack(">IIBBBBB", 100_000, 100_000, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", b"") + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no picture"),
        (b"GIF89a no more", ""),
        (b"<html>not found</html>", "no picture"),
        (written(two_halves(400, 300), "JPEG").content[:900], "truncated"),
        (huge(), "pixels"),
    ],
    ids=["empty", "broken", "no picture", "cut off", "bomb"],
)
def test_what_cannot_be_read_is_an_error_that_names_it(content, said):
    with pytest.raises(DataError, match=f"^holiday.jpg: .*{said}"):
        decode_picture(PictureFile("holiday.jpg", content), side=16)


def test_pictures_come_as_paths_bytes_arrays_and_images(tmp_path):
    image = two_halves()
    image.save(tmp_path / "a.png")
    forms = [tmp_path / "a.png", (tmp_path / "a.png").read_bytes(), image, np.asarray(image)]
    found = [decode_picture(open_picture(given), side=8) for given in forms]
    assert all(np.array_equal(found[0], one) for one in found)
    assert np.array_equal(found[0], decode_picture(open_picture("a.png", folder=tmp_path), side=8))
    with pytest.raises(DataError, match=r"missing\.png: No such file"):
        open_picture("missing.png", folder=tmp_path)
    with pytest.raises(DataError, match="float64 and shape"):
        open_picture(np.zeros((4, 4, 3)))
