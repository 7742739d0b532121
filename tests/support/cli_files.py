"""Files as users have them, for tests of the command."""

import csv

from support.reviews import reviews

COLUMNS = ["--text-column", "review", "--label-column", "stars"]


def rows(count, seed):
    """Return reviews as rows with an id, an author and a day beside text and label."""
    texts, labels = reviews(count, seed=seed)
    return [
        {"id": f"r{place}", "review": text, "stars": label, "author": f"a{place % 8}", "day": place}
        for place, (text, label) in enumerate(zip(texts, labels, strict=True))
    ]


def write_csv(path, given):
    """Write rows as CSV and return the path."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(given[0]))
        writer.writeheader()
        writer.writerows(given)
    return path
