"""Seeds: one for each purpose, and no trace left in the caller's random state."""

import torch

from regard.training.seeds import derived_seed, seeded


def test_each_purpose_has_a_seed_of_its_own():
    seeds = {
        derived_seed(seed, *purpose)
        for seed in (0, 1, 12)
        for purpose in [("weights",), ("order",), ("step", 0), ("step", 1), ("step", 11)]
    }
    assert len(seeds) == 15
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_derived_seeds_are_the_same_in_every_process():
    assert derived_seed(0, "weights") == 4283426181684004966


def test_draws_inside_depend_on_the_seed_alone():
    def draw(seed):
        with seeded(seed):
            return torch.rand(3)

    assert torch.equal(draw(1), draw(1))
    assert not torch.equal(draw(1), draw(2))


def test_the_callers_random_state_is_left_as_it_was():
    before = torch.get_rng_state()
    with seeded(5):
        torch.rand(3)
    assert torch.equal(torch.get_rng_state(), before)
