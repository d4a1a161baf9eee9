"""Questions of 06_block on where the norm sits: what is asked, and how the answers are judged."""

from ...language import _
from ...live.feedback import Feedback, gradients, right, wrong
from ...live.question import Guess
from .computation import Run, gradients_at_start, has_learned, recorded


def guess_no_norm() -> Guess:
    """What the direct paths alone do to the gradient."""
    return Guess(
        _(
            "12 blocks with their direct paths but without any norm: how long is the gradient in the last "
            "block, before the first step, compared with post-norm?"
        ),
        gradient_without_norm,
        options=[_("less than a tenth as long"), _("about as long"), _("more than a hundred times as long")],
    )


def guess_deep() -> Guess:
    """Which placement learns when the net is deep."""
    return Guess(
        _(
            "12 blocks, Xavier, learning rate 0.001 from the first step on (no warm-up), 300 "
            "steps. Who learns?"
        ),
        deep_and_fast,
        options=[_("Pre-norm and post-norm"), _("Only pre-norm"), _("Only post-norm")],
    )


@gradients()
def gradient_without_norm(answer: int) -> Feedback:
    """Which option tells how long the gradient in the last of 12 blocks is without any norm?"""
    without, behind = (gradients_at_start(norm, 12)[-1] for norm in ("none", "post"))
    truth = 0 if without < behind / 10 else 1 if without < 10 * behind else 2
    if answer == truth:
        return right(
            _("Right: without a norm nothing holds the stream back, and with it the gradient grows.")
        )
    if answer == 0:
        return wrong(_("The direct paths are there, so it does not vanish. What could happen instead?"))
    return wrong(_("So it would be if the contributions stayed as they are. But what holds them back?"))


def deep_and_fast(answer: int) -> Feedback:
    """Which option says what became of 12 blocks at learning rate 1e-3 without warm-up?"""
    curves = {norm: recorded()[Run(norm, 12, 1e-3)] for norm in ("pre", "post")}
    learned = {norm: has_learned(losses) for norm, losses in curves.items()}
    options = [
        learned["pre"] and learned["post"],
        learned["pre"] and not learned["post"],
        learned["post"] and not learned["pre"],
    ]
    if options[answer]:
        return right(_("Right, as recorded below. But look at 2 blocks too before you judge post-norm."))
    return wrong(_("Set the view below to 12 blocks and learning rate 0.001 and compare the curves."))
