"""Questions of 00_toolbox: what is asked before moving, the truth, and what is said to each answer."""

import numpy as np

from ...language import _
from ...live.feedback import gradients
from ...live.question import Choice, Mistake, NumberQuestion, Option, VectorQuestion
from .computation import (
    descent,
    gradient_of_valley,
    ids_of,
    pair,
    product,
    shape_of_all_comparisons,
    shape_of_row_sums,
    shares,
    vocabulary,
    what_eval_changes,
)


def guess_ids() -> VectorQuestion:
    """Ids out of a small vocabulary."""
    words = vocabulary()
    _article, animal, _laughs, finds = words
    text = f"{animal} {finds} {animal}"
    numbered = ", ".join(f"{id} {word}" for id, word in enumerate(words))
    return VectorQuestion(
        _("The vocabulary: {words}. Which ids does “{text}” have?").format(words=numbered, text=text),
        truth=lambda: ids_of(text),
        right=_("Right: the same token has the same id wherever it stands."),
        wrong_length=_("Three tokens have three ids."),
        mistakes=[
            Mistake([2, 4, 2], _("You have counted from 1. The ids of this vocabulary begin at 0.")),
            Mistake([0, 1, 2], _("Those are the positions. The id is the token's number in the vocabulary.")),
        ],
        otherwise=_("Look up each word: its id is the number before it."),
    )


def guess_row_sums() -> Choice:
    """Which axis a sum over the last one takes away."""
    return Choice(
        _("x has the shape (2, 3): two rows, three columns. What is the shape of x.sum(dim=-1)?"),
        truth=lambda: shape_of_row_sums(2, 3),
        options=[
            Option((2,), _("(2): one sum for each row"), _("Right: the last axis is summed and disappears.")),
            Option(
                (3,),
                _("(3): one sum for each column"),
                _("That would be dim=0. dim=-1 names the last axis: which one is summed and disappears?"),
            ),
            Option(
                (),
                _("(): one number, the sum of all"),
                _("That is what x.sum() does without dim. With dim, only one axis is summed."),
            ),
        ],
    )


def guess_dot() -> Choice:
    """When a dot product is zero."""
    x = np.array([2.0, 1.0])
    return Choice(
        _("Which of these lists has the dot product 0 with [2, 1]?"),
        truth=lambda: next(
            tuple(y) for y in ([1.0, 2.0], [-1.0, 2.0], [-2.0, -1.0]) if pair(*x, *y).dot == 0
        ),
        options=[
            Option((1.0, 2.0), "[1, 2]", _("2 · 1 + 1 · 2 is 4.")),
            Option((-1.0, 2.0), "[-1, 2]", _("Right: 2 · (-1) + 1 · 2 = 0. They stand at a right angle.")),
            Option(
                (-2.0, -1.0),
                "[-2, -1]",
                _("It points the opposite way, and the dot product is as negative as it can be: -5."),
            ),
        ],
    )


def guess_product() -> VectorQuestion:
    """The page's matrix times a list."""
    result = product(2, 1, 1, by_rows=True, which=1)
    return VectorQuestion(
        _("W has the rows [1, 0, 2] and [-1, 3, 1], and x = [2, 1, 1]. What is W x?"),
        truth=lambda: result.y,
        right=_("Right: a row times x is one number, two rows make two numbers."),
        wrong_length=_("Each row of W gives one number. How many rows are there?"),
        mistakes=[
            Mistake(
                lambda answer: len(answer) == 2 and sorted(answer) == sorted(result.y),
                _("The numbers are right. The first row gives the first one."),
            ),
            Mistake([3, 3], _("Those are the sums of the rows. Each number of a row is first multiplied.")),
        ],
        otherwise=_("First row: 1 · 2 + 0 · 1 + 2 · 1. The second one works the same way."),
        within=1e-4,
    )


def guess_comparisons() -> NumberQuestion:
    """How many numbers X Xᵀ has."""
    return NumberQuestion(
        _("X has the shape (5, 3): five positions, three numbers each. How many numbers has X · Xᵀ?"),
        truth=lambda: float(np.prod(shape_of_all_comparisons(5, 3))),
        right=_("Right: every row with every row, so 5 · 5."),
        mistakes=[
            Mistake(9, _("That would be Xᵀ · X: every column with every column.")),
            Mistake(15, _("X itself has 15. In the product the axis of length 3 is summed.")),
        ],
        otherwise=_("(5, 3) times (3, 5): the inner lengths meet and disappear. Which ones are left?"),
    )


def guess_shares() -> VectorQuestion:
    """Softmax of two equal numbers, however large."""
    return VectorQuestion(
        _("What does softmax make of [1000, 1000]?"),
        truth=lambda: shares(1000, 1000, 0, shift=-1000, hidden=True).shares[:2],
        right=_("Right: equal numbers get equal shares, and all shares together are 1."),
        wrong_length=_("Two numbers go in, two shares come out."),
        mistakes=[
            Mistake([1, 1], _("Shares of one whole always add up to 1.")),
            Mistake([1000, 1000], _("Shares are never larger than 1.")),
        ],
        otherwise=_("Both numbers are equal. Is there a reason to give one of them more than the other?"),
        within=1e-3,
    )


def guess_gradient() -> VectorQuestion:
    """The gradient of a sum of squares."""
    at = (1.5, 2.0)
    return VectorQuestion(
        _("f(w) = w₁² + w₂², and w = [1.5, 2]. What is the gradient there?"),
        truth=gradients()(lambda: gradient_of_valley(at)),
        right=_("Right: a slope for each number, 2 · 1.5 and 2 · 2."),
        wrong_length=_("The gradient has a slope for each number of w: two."),
        mistakes=[
            Mistake([2.25, 4], _("Those are the squares. The slope of w² is 2w.")),
            Mistake([1.5, 2], _("That is w itself. The slope of w² is 2w.")),
            Mistake([-3, -4], _("That points downhill. The gradient points uphill.")),
        ],
        otherwise=_("If only w₁ moves, w₂² stays as it is. How steep is w₁² at 1.5?"),
        within=1e-4,
    )


def guess_step() -> NumberQuestion:
    """Where one step with a large learning rate ends."""
    return NumberQuestion(
        _(
            "f(w) = w² has the slope 2w. You stand at w = 3 and take one step with the learning rate 1. "
            "Where are you?"
        ),
        truth=lambda: descent(1.0, 1, 3.0).places[-1],
        right=_("Right: 3 - 1 · 6 = -3. As high as before, on the other side."),
        mistakes=[
            Mistake(9, _("That is uphill: the slope is subtracted.")),
            Mistake(
                2, _("You have subtracted the learning rate alone; it is first multiplied by the slope.")
            ),
            Mistake(
                0,
                _("Downhill, yes. But the step is the learning rate times the slope. How steep is it?"),
            ),
            Mistake(-6, _("That is the step. Where does it lead from 3?")),
        ],
        otherwise=_("The step is the learning rate times the slope at 3, and it is subtracted."),
    )


def guess_eval() -> Choice:
    """What eval() does."""
    return Choice(
        _("What does model.eval() do?"),
        truth=what_eval_changes,
        options=[
            Option(
                "weights",
                _("It measures how good the model is and corrects the weights"),
                _("It sounds like that. But it computes nothing at all."),
            ),
            Option(
                "dropout",
                _("It flips a switch: dropout no longer drops anything"),
                _("Right: it flips a switch, nothing else. train() flips it back."),
            ),
            Option(
                "gradients",
                _("It switches gradients off"),
                _("That is what torch.no_grad() does. The two are often used together and often confused."),
            ),
        ],
    )
