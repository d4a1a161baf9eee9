"""Checks of 08_decoder."""

from collections.abc import Callable

import torch

from .. import corpus, model, parameters, pretrained, sampling, training
from ..apart import Seeded
from ..language import _
from ..trace import ablate, running_with
from . import story
from .feedback import Feedback, right, wrong
from .running import Reader, number


def _small(tie_head: bool = True) -> model.Decoder:
    with Seeded(0):
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
    logits, reader = _logits(), Reader(function)
    answer = _id(reader(logits))
    if isinstance(answer, Feedback):
        return answer
    if answer != logits[0, -1].argmax():
        return wrong(_wrong_id(answer, logits))
    longer = torch.cat([logits, logits[:, :2]], dim=1)
    if _id(reader(longer)) != longer[0, -1].argmax():
        return wrong(
            _("Right for four positions, wrong for six: which one is the last, however many there are?")
        )
    return reader.right(_("Right: last position, largest logit. Softmax would not change which one it is."))


def _logits() -> torch.Tensor:
    """Logits (1, 4, 12) in which each position, their mean, and all positions together name another id."""
    logits = torch.zeros(1, 4, 12, dtype=torch.float32)
    logits[0, :3, 7] = 0.8  # largest on the whole, but at no position by itself
    for position, id in enumerate((5, 1, 2, 3)):
        logits[0, position, id] = 0.9
    logits[0, 1, 1] = 0.95  # largest of all
    logits[0, -1, 8] = -0.5
    return logits


def _id(answer) -> int | Feedback:
    wanted = _("One id is wanted, a single whole number.")
    if isinstance(answer, torch.Tensor) and answer.numel() == 1:
        answer = answer.reshape(())
    answer = number(answer, wanted)
    if isinstance(answer, float):
        return wrong(_("An id is a whole number: where the largest logit stands, not how large it is."))
    return answer


def _wrong_id(answer: int, logits: torch.Tensor) -> str:
    ids = logits[0].argmax(dim=-1).tolist()
    if answer == ids[0]:
        return _("That id has the largest logit at the first position. Which position has read everything?")
    if answer in ids:
        return _("That is the answer of a position in the middle.")
    if answer in (logits.mean(dim=1).argmax(), logits.flatten().argmax()):
        return _("You let all positions have a say. But only one of them has read everything.")
    return _("Take the logits of the last position and find where the largest stands.")
