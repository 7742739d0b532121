"""Fit the curves that kernels/c/vectors.h computes tanh and powers of two with, and print them.

Run: python scripts/fit_curves.py

tanh(x) = x P(x^2) / Q(x^2), both of degree four, with the least relative error on [-7.9, 7.9],
made linear by dividing by the last Q. 2^x = 1 + x R(x), with R of degree four, on [-0.5, 0.5].
Both by least squares whose weights grow where the error is largest (Lawson).
"""

from __future__ import annotations

import numpy as np

DEGREE = 4
LIMIT = 7.9
POINTS = 4000
ROUNDS = 1500


def fit_tanh() -> tuple[np.ndarray, np.ndarray, float]:
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
        found = _solved(terms, 1 / last, weights)
        above, below = found[: DEGREE + 1], np.concatenate([[1.0], found[DEGREE + 1 :]])
        last = powers @ below
        errors = np.abs(powers @ above / last / wanted - 1)
        if errors.max() < best[2]:
            best = (above, below, errors.max())
        weights = _weighed(weights, errors)
    scale = LIMIT ** (2.0 * np.arange(DEGREE + 1))
    return best[0] / scale, best[1] / scale, best[2]


def fit_power() -> tuple[np.ndarray, float]:
    """Return R, lowest power first, and the largest relative error."""
    x = 0.5 * np.cos(np.pi * (np.arange(POINTS) + 0.5) / POINTS)
    wanted = 2.0**x
    terms = np.vander(x, DEGREE + 2, increasing=True)[:, 1:] / wanted[:, None]
    goals, weights = 1 - 1 / wanted, np.ones_like(x)
    best = (np.zeros(0), np.inf)
    for _ in range(ROUNDS):
        found = _solved(terms, goals, weights)
        errors = np.abs(terms @ found - goals)
        if errors.max() < best[1]:
            best = (found, errors.max())
        weights = _weighed(weights, errors)
    return best


def _solved(terms: np.ndarray, goals: np.ndarray, weights: np.ndarray) -> np.ndarray:
    root = np.sqrt(weights)
    return np.linalg.lstsq(terms * root[:, None], goals * root, rcond=None)[0]


def _weighed(weights: np.ndarray, errors: np.ndarray) -> np.ndarray:
    grown = weights * (errors / errors.max() + 1e-3) ** 0.7
    return grown / grown.mean()


def main() -> None:
    """Print the numbers as they stand in the source."""
    above, below, error = fit_tanh()
    print(f"tanh: largest relative error before rounding {error:.1e}")
    for name, numbers in {"P": above, "Q": below}.items():
        print(f"{name:10}", "  ".join(f"{number:.9e}" for number in numbers))
    power, error = fit_power()
    print(f"2^x: largest relative error before rounding {error:.1e}")
    print(f"{'R':10}", "  ".join(f"{number:.9e}" for number in power))


if __name__ == "__main__":
    main()
