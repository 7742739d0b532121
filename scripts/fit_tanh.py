"""Fit the fraction that kernels/vectors.h computes tanh with, and print its numbers.

Run: python scripts/fit_tanh.py

tanh(x) = x P(x^2) / Q(x^2), both of degree four, with the least relative error on [-7.9, 7.9]:
least squares whose weights grow where the error is largest (Lawson), made linear by dividing
by the last Q. The sigmoid is 1/2 + x P'(x^2) / Q'(x^2), the same fraction of x / 2.
"""

from __future__ import annotations

import numpy as np

DEGREE = 4
LIMIT = 7.9
POINTS = 4000
ROUNDS = 1500


def fit() -> tuple[np.ndarray, np.ndarray, float]:
    """Return P and Q, lowest power first, and the largest relative error."""
    angles = np.pi * (np.arange(POINTS) + 0.5) / (2 * POINTS)
    x = LIMIT * np.cos(angles)
    x = x[x > 1e-3]
    wanted = np.tanh(x) / x
    powers = np.vander((x / LIMIT) ** 2, DEGREE + 1, increasing=True)
    weights, last = np.ones_like(x), np.ones_like(x)
    best = (np.zeros(0), np.zeros(0), np.inf)
    for _ in range(ROUNDS):
        terms = np.concatenate(
            [powers / (wanted * last)[:, None], -powers[:, 1:] / last[:, None]], 1
        )
        root = np.sqrt(weights)
        found = np.linalg.lstsq(terms * root[:, None], root / last, rcond=None)[0]
        above, below = found[: DEGREE + 1], np.concatenate([[1.0], found[DEGREE + 1 :]])
        last = powers @ below
        errors = np.abs(powers @ above / last / wanted - 1)
        if errors.max() < best[2]:
            best = (above, below, errors.max())
        weights = weights * (errors / errors.max() + 1e-3) ** 0.7
        weights /= weights.mean()
    scale = LIMIT ** (2.0 * np.arange(DEGREE + 1))
    return best[0] / scale, best[1] / scale, best[2]


def main() -> None:
    """Print the numbers as they stand in the source."""
    above, below, error = fit()
    quarters = 4.0 ** np.arange(DEGREE + 1)
    print(f"largest relative error before rounding: {error:.1e}")
    for name, numbers in {
        "tanh P": above,
        "tanh Q": below,
        "sigmoid P": above / quarters / 4,
        "sigmoid Q": below / quarters,
    }.items():
        print(f"{name:10}", "  ".join(f"{number:.9e}" for number in numbers))


if __name__ == "__main__":
    main()
