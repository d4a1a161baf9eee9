"""Questions of 08_decoder: what is asked before moving, and how the answers are judged."""

import torch

from ... import corpus, model, parameters, pretrained, sampling, training
from ...apart import Seeded
from ...language import _
from ...live.feedback import Feedback, right, wrong
from ...live.question import Guess
from ...trace import ablate, running_with
from ..story import prompt


def guess_shape() -> Guess:
    """The shape of the logits."""
    return Guess(
        _("Two texts of seven tokens each go in, the vocabulary has 100 entries. How many logits come out?"),
        number_of_logits,
        kind="number",
    )


def guess_position() -> Guess:
    """Which position decides."""
    return Guess(
        _("The model has read five tokens. Which of the five rows of logits decides on the sixth token?"),
        deciding_position,
        options=[_("the first"), _("the mean of all"), _("the last")],
    )


def guess_own_words() -> Guess:
    """Whether the model tells its own words from a reader's."""
    return Guess(
        _(
            "The loop has appended “ eine Nuss.” to “Mia schenkt Jan”. Now you type these words yourself and "
            "start it behind them. How does it go on?"
        ),
        own_words_or_typed,
        options=[
            _("just as it would have without you"),
            _("differently: these are not its own words"),
            _("with the same words once more"),
        ],
    )


def guess_missing_part() -> Guess:
    """What the trained model misses most."""
    return Guess(
        _("What hits the trained model hardest?"),
        part_missed_most,
        options=[
            _("one of its eight heads is missing"),
            _("all MLPs are missing"),
            _("the residual paths are missing"),
        ],
    )


def guess_tied() -> Guess:
    """What a tied head saves."""
    return Guess(
        _("V = 100, D = 8. How many parameters does a tied head save?"), saved_by_tying, kind="number"
    )


def _small(tie_head: bool = True) -> model.Decoder:
    with Seeded(0):
        return model.Decoder(
            model.Config(vocab_size=100, context_length=16, width=8, heads=2, blocks=1, tie_head=tie_head)
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
        ids = prompt(shipped, text)
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
