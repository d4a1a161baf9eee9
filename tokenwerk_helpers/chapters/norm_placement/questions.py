"""Questions of 06b_norm_placement: each with its truth and an answer for whatever is said."""

from ...language import _
from ...live.feedback import gradients
from ...live.question import Choice, Option
from .computation import LOOKS, geometric_mean, gradient_beside_post_norm, recorded_looks, who_learns


@gradients()
def size_without_norm() -> str:
    """The gradient in the last of 12 blocks without norm, beside post-norm's: "shorter", "alike" or "longer".

    Below a tenth of its length it is shorter, from ten times its length on longer.
    """
    times = gradient_beside_post_norm("none", 12)
    return "shorter" if times < 1 / 10 else "alike" if times < 10 else "longer"


def guess_no_norm() -> Choice:
    """What the direct paths alone do to the gradient."""
    return Choice(
        _(
            "12 blocks with their direct paths but without any norm: how long is the gradient in the last "
            "block, before the first step, compared with post-norm?"
        ),
        truth=size_without_norm,
        options=[
            Option(
                "shorter",
                _("less than a tenth as long"),
                _("The direct paths are there, so it does not vanish. What could happen instead?"),
            ),
            Option(
                "alike",
                _("about as long"),
                _("That would be so if the contributions stayed as they are. But what holds them back?"),
            ),
            Option(
                "longer",
                _("more than a hundred times as long"),
                _("Right: without a norm nothing holds the stream back, and with it the gradient grows."),
            ),
        ],
    )


def guess_deep() -> Choice:
    """Which placement learns when the net is deep."""
    compare = _("Set the view below to 12 blocks and learning rate 0.001 and compare the curves.")
    return Choice(
        _(
            "12 blocks, Xavier, learning rate 0.001 from the first step on (no warm-up), 300 "
            "steps. Who learns?"
        ),
        truth=lambda: who_learns(12, 1e-3),
        options=[
            Option(["pre", "post"], _("Pre-norm and post-norm"), compare),
            Option(
                ["pre"],
                _("Only pre-norm"),
                _("Right, as recorded below. But look at 2 blocks too before you judge post-norm."),
            ),
            Option(["post"], _("Only post-norm"), compare),
        ],
    )


@gradients()
def gradient_that_vanishes() -> list[str]:
    """Which tables of the last of 6 blocks have lost their gradient after some steps without direct paths."""
    looks = recorded_looks(6, "cut", LOOKS[-1])
    return [table for table, lengths in looks.gradients.items() if geometric_mean(lengths)[-1] < 1e-3]


def guess_vanishing() -> Choice:
    """Which tables get no gradient once all positions are alike."""
    return Choice(
        _(
            "6 blocks with pre-norm, but without their direct paths. After 60 steps the lists of all "
            "positions are almost the same. Which tables of the last block get hardly any gradient?"
        ),
        truth=gradient_that_vanishes,
        options=[
            Option(
                [],
                _("none of them: the norms keep every gradient alive"),
                _("They do that for one of the three. What can attention still tell apart?"),
            ),
            Option(
                ["W_Q", "W_K"],
                _("those for queries and keys"),
                _(
                    "Right: if all values are the same, it does not matter where a position looks, "
                    "so there is nothing to learn about looking."
                ),
            ),
            Option(
                ["W_Q", "W_K", "W2"],
                _("those for queries and keys, and W₂"),
                _("The MLP computes at each position by itself. Does it notice that they are all alike?"),
            ),
        ],
    )
