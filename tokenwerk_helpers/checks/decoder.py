"""Checks of 08_decoder."""

from collections.abc import Callable

import torch

from .. import corpus, model, parameters, pretrained, sampling, training
from ..language import _
from ..trace import ablate, running_with
from . import story
from .feedback import Feedback, attempt, draws_aside, right, wrong


@draws_aside
def _small(tie_head: bool = True) -> model.Decoder:
    return model.Decoder(
        model.Config(vocab_size=100, context=16, width=8, heads=2, blocks=1, tie_head=tie_head)
    )


def number_of_logits(answer: float) -> Feedback:
    """Is `answer` the number of logits for two texts of seven tokens and 100 entries?"""
    with torch.no_grad():
        logits = _small()(torch.zeros(2, 7, dtype=torch.long))
    if answer == logits.numel():
        return right(_("Right: 2 texts, 7 positions, 100 logits at each: the shape is (2, 7, 100)."))
    if answer in (100, 200):
        return wrong(_("The head answers at every position, not just at the last."))
    if answer == 700:
        return wrong(_("That is one of the two texts."))
    return wrong(_("Texts times positions times vocabulary."))


def deciding_position(answer: int) -> Feedback:
    """Which option is the row that decides on the next token?"""
    if answer == 2:
        return right(_("Right: only the last position has read all five tokens."))
    if answer == 0:
        return wrong(_("The first position has seen one token only. What does the mask allow it?"))
    return wrong(_("The rows answer different questions: each predicts what follows its own position."))


def saved_by_tying(answer: float) -> Feedback:
    """Is `answer` the number of parameters that a tied head saves?"""
    saved = parameters.count(_small(tie_head=False)).total - parameters.count(_small()).total
    if answer == saved:
        return right(_("Right: V · D = 800 numbers, a whole second table."))
    return wrong(
        _("The head is a table with a row of D numbers for each of the V entries. It is not needed twice.")
    )


def own_words_or_typed(answer: int) -> Feedback:
    """Which option tells how the loop goes on if its first three tokens had been typed by the reader?"""
    shipped = pretrained.load()
    decode, end = shipped.tokenizer.decode, shipped.tokenizer.end

    def written(text: str) -> list[int]:
        ids = story.prompt(shipped, text)
        return [step.id for step in sampling.generate(shipped.model, ids, 12, temperature=0, eos=end)]

    alone = written("Mia schenkt Jan")
    helped = written("Mia schenkt Jan" + decode(alone[:3]))
    truth = 2 if helped[:3] == alone[:3] else 0 if helped[:9] == alone[3:12] else 1
    if answer == truth:
        return right(_("Right: it reads the text and nothing else. Who wrote it is not in there."))
    if answer == 1:
        return wrong(_("How would it know? At each step it begins anew, with the text alone."))
    return wrong(_("These words stand in the text already. What came after them before?"))


def part_missed_most(answer: int) -> Feedback:
    """Which option costs the shipped model most on stories it has not seen?"""
    shipped = pretrained.load()
    rows = [training.framed(s.text, shipped.tokenizer) for s in corpus.stories(1, 20, split="held_out")]
    batch = training.batch(rows)
    off = ([], ["mlp"], ["residual"])
    options = [ablate(shipped.model, *parts, heads=[] if parts else [(0, 1)]) for parts in off]
    losses = []
    for replace in options:
        with torch.no_grad(), running_with(shipped.model, replace):
            losses.append(float(training.loss(shipped.model, batch)))
    if answer == losses.index(max(losses)):
        return right(
            _("Right: without them every part gets only what the part before it has left over. Measure it.")
        )
    if answer == 0:
        return wrong(_("That costs something, but seven other heads are still there."))
    return wrong(
        _("Without the MLPs each position still carries its list on. What if not even that happens?")
    )


def next_id(function: Callable | None) -> Feedback:
    """Does `function(logits)` return the most probable next id, from the last of (1, T, V)?"""
    logits = torch.zeros(1, 4, 6)
    # All below 1, so that a logit that is returned in place of its id is not taken for one.
    for position, id in enumerate((5, 1, 2, 3)):
        logits[0, position, id] = 0.5
    logits[0, 0, 5] = 0.9  # largest of all, but at the first position
    answer = attempt(function, logits.clone())
    if isinstance(answer, Feedback):
        return answer
    try:
        answer = int(answer)
    except (TypeError, ValueError, RuntimeError):
        return wrong(_("One id is wanted, a single whole number."))
    if answer == 3:
        return right(_("Right: last position, largest logit. Softmax would not change which one it is."))
    if answer == 5:
        return wrong(
            _("That id has the largest logit at the first position. Which position has read everything?")
        )
    if answer in (1, 2):
        return wrong(_("That is the answer of a position in the middle."))
    return wrong(_("Take the logits of the last position and find where the largest stands."))
