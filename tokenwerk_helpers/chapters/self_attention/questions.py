"""Questions of 04_self_attention: what is asked before moving, and how the answers are judged."""

import math

import torch

from ... import model
from ...language import _
from ...live.feedback import Feedback, right, wrong
from ...live.question import Guess
from ..story import STORY, read


def guess_row_sum() -> Guess:
    """What the weights of a row sum to."""
    return Guess(_("After softmax: what do the weights of one row sum to?"), row_sum, kind="number")


def guess_shift() -> Guess:
    """Softmax looks at differences."""
    return Guess(
        _("You add 5 to all scores of one row. What happens to its weights?"),
        shift_of_all_scores,
        options=[
            _("They all grow"),
            _("They stay as they are"),
            _("The largest one grows, the others shrink"),
        ],
    )


def guess_spread() -> Guess:
    """How much more the scores spread in a wider head."""
    return Guess(
        _(
            "The components of q and k are independent and spread by 1. How many times as widely do the "
            "scores q · k spread with d_k = 64 as with d_k = 4?"
        ),
        spread_of_scores,
        kind="number",
    )


def guess_transpose() -> Guess:
    """What forgetting the transpose does."""
    return Guess(
        _("Each head has done its part, but the transpose before merging is forgotten. What happens?"),
        heads_merged_without_transpose,
        options=[
            _("An error: the shape does not fit"),
            _("The shape fits, but most numbers stand in the wrong place"),
            _("Nothing: the order does not matter"),
        ],
    )


def guess_pronoun() -> Guess:
    """What a head looks at before a pronoun."""
    return Guess(
        _(
            "“Eine kleine Ente wohnt im Wald. Heute findet …”: a pronoun comes next. In block 1 one head "
            "looks back most clearly at article and noun. Which word gets most of its weight?"
        ),
        what_the_pronoun_is_read_from,
        options=ANTECEDENTS,
    )


ANTECEDENTS = ("Ente", "Wald", "Eine")  # the options of `what_the_pronoun_is_read_from`


def row_sum(answer: float) -> Feedback:
    """Is `answer` the sum of a row of weights?"""
    weights = model.softmax(torch.tensor([[0.3, -2.0, 5.0]]))
    if abs(answer - weights.sum().item()) < 1e-3:
        return right(
            _("Right: the weights share out one whole. A position that looks more here looks less there.")
        )
    if abs(answer - 100) < 1e-3:
        return wrong(_("In per cent, yes. As plain numbers?"))
    return wrong(_("Softmax turns a row into shares. What do all shares together make?"))


def shift_of_all_scores(answer: int) -> Feedback:
    """Which option tells what a common shift of all scores does to the weights?"""
    scores = torch.tensor([[1.0, 0.0, 2.5]])
    same = torch.allclose(model.softmax(scores), model.softmax(scores + 5))
    if answer == (1 if same else 0):
        return right(_("Right: e⁵ stands above and below the fraction line. Softmax sees differences only."))
    return wrong(_("Write the fraction down: each e^(s + 5) is e^s · e⁵. What happens to e⁵?"))


def spread_of_scores(answer: float) -> Feedback:
    """Is `answer` the factor by which scores spread more with d_k = 64 than with d_k = 4?"""
    factor = math.sqrt(64) / math.sqrt(4)
    if abs(answer - factor) < 0.05:
        return right(_("Right: a sum of d_k such products spreads like √d_k, and √64 / √4 = 4."))
    if abs(answer - 16) < 0.5:
        return wrong(_("That would be the variance. The spread is its root."))
    return wrong(_("The variances of independent products add up. So how does the root of their sum grow?"))


def heads_merged_without_transpose(answer: int) -> Feedback:
    """Which option tells what merging the heads without a transpose does?"""
    x = torch.arange(24.0).view(4, 6)  # (T, D)
    heads = model.split_heads(x[None], 3)  # (1, H, T, D/H)
    try:
        merged = heads.reshape(1, 4, 6)[0]
        found = 2 if torch.equal(merged, x) else 1
    except RuntimeError:
        found = 0
    if answer == found:
        return right(_("Right, and nothing warns you: as many numbers, the right shape, the wrong places."))
    if answer == 0:
        return wrong(_("As many numbers come out as went in. Does PyTorch ask for more?"))
    return wrong(_("The numbers of one head lie side by side now. Do those of one position, too?"))


def what_the_pronoun_is_read_from(answer: int) -> Feedback:
    """Which option is the token that a head of the shipped model looks at most before a pronoun?"""
    shipped, ids, seen = read(STORY.partition(" sie ")[0])
    found = shipped.about["heads"]["pronoun"]
    weights = seen[f"blocks.{found['block']}.attn.weights"]
    best = int(weights[0, found["head"], -1].argmax())
    if ANTECEDENTS[answer] == shipped.tokenizer.decode([ids[best]]).strip():
        return right(_("Right: the article tells the gender as well as the noun does. Measure it below."))
    if ANTECEDENTS[answer] == "Wald":
        return wrong(_("That is the nearest noun. But the pronoun would have to be “er” then."))
    return wrong(_("A person would look there. Which other word gives the gender away already?"))
