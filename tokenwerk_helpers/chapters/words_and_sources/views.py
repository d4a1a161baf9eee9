"""What 13_words_and_sources shows: the glossary, the words with one meaning, the works, as Markdown."""

import unicodedata
from typing import NamedTuple

from ...language import _
from ..book import number_of, title
from .computation import WORKS, Work, in_order, names


class Tables:
    """Markdown to be shown, which also reads as plain text."""

    def __init__(self, markdown: str):
        self.markdown = markdown

    def __repr__(self) -> str:
        return self.markdown

    def _repr_markdown_(self) -> str:
        return self.markdown


def table(*rows: tuple[str, ...]) -> str:
    """Rows of a Markdown table, the first one its head."""
    head, *body = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([head, "|---" * len(rows[0]) + "|", *body])


# ---- the glossary ----


class Term(NamedTuple):
    """A word of the book and what it means."""

    word: str
    meaning: str


def terms() -> dict[str, list[Term]]:
    """The words of the book in the reader's language, by the notebook that introduces them."""
    # fmt: off
    return {
        "00_start": [
            Term(_("kernel"),
                 _("The Python that computes behind a page.")),
            Term(_("logit"),
                 _("A raw number for a possible next token: the larger it is, the more likely the "
                    "token.")),
        ],
        "00_toolbox": [
            Term(_("token"),
                 _("The piece of text in which a language model reads and writes: a word, part of "
                    "a word, or a sign.")),
            Term(_("decoder"),
                 _("A language model in which every position sees itself and what came before, and says "
                   "which token comes next.")),
            Term(_("broadcasting"),
                 _("PyTorch stretches an axis of length 1 without a word until the shapes fit.")),
            Term(_("gradient"),
                 _("How strongly a result reacts to each of many numbers when it moves a little: one "
                   "slope for each.")),
            Term(_("loss"),
                 _("How far off a model's answers are, in one number; training makes it smaller.")),
            Term(_("learning rate"),
                 _("How far the weights move in one step against the gradient.")),
            Term(_("batch"),
                 _("Several texts that are computed at the same time.")),
            Term(_("linear layer"),
                 _("Multiplies a list by a weight table and adds a bias.")),
            Term(_("bias"),
                 _("The learned list that a linear layer adds.")),
            Term(_("softmax"),
                 _("Turns a list of numbers into shares that add up to 1: e to the power of each, "
                    "divided by the sum.")),
            Term(_("transposing"),
                 _("Swapping two axes: rows become columns.")),
            Term(_("encoder"),
                 _("A model whose positions see all others, such as BERT; it fills gaps.")),
            Term(_("id"),
                 _("The number of a token: its row in the token table.")),
            Term(_("vocabulary"),
                 _("All tokens that a model knows; there are V of them.")),
            Term(_("dot product"),
                 _("Multiply two lists number by number and add it all up.")),
            Term(_("parameter"),
                 _("A number that training changes.")),
            Term(_("model"),
                 _("A computation in which many numbers are learned first.")),
            Term(_("vector"),
                 _("A list of numbers, drawn as an arrow from the origin.")),
            Term(_("tensor"),
                 _("PyTorch's name for any arrangement of numbers: a number, a list, a table, many "
                   "tables.")),
            Term(_("axis"),
                 _("A direction in which the numbers of a tensor stand: rows, columns, texts.")),
            Term(_("cosine"),
                 _("How alike the directions of two vectors are: 1 for the same, 0 at a right angle, −1 "
                   "for the opposite one.")),
        ],
        "01_residual": [
            Term(_("residual connection"),
                 _("Adds what a part has computed to its input instead of replacing it: y = x + f(x).")),
            Term(_("contribution"),
                 _("What a part adds: f(x), a list in the shape of x.")),
            Term(_("vanishing, exploding gradient"),
                 _("A product of many factors, one per layer: below 1 it shrinks towards zero, "
                    "above 1 it grows without bound.")),
            Term(_("residual path"),
                 _("The way straight through the whole model, from sum to sum, to which each part adds "
                   "its contribution.")),
            Term(_("activation"),
                 _("Bends each number by itself; without it, layers in a row would be one linear layer.")),
            Term(_("direct path"),
                 _("The x in x + f(x): it leads around the part and changes nothing.")),
        ],
        "02_normalization": [
            Term(_("LayerNorm"),
                 _("Subtracts the mean from a position's list, divides by its standard deviation, "
                    "then stretches and shifts each component as learned.")),
            Term(_("variance"),
                 _("The mean of the squared deviations from the mean; LayerNorm divides by n, not by n − "
                   "1.")),
            Term(_("standard deviation"),
                 _("The root of the variance: the size of the deviations.")),
            Term(_("epsilon"),
                 _("A small positive number under the root that guards against 0/0.")),
            Term(_("gamma and beta"),
                 _("The learned factor and the learned shift of each component in a norm.")),
            Term(_("BatchNorm"),
                 _("An older norm: in training it takes mean and variance of each component over all "
                   "texts and positions.")),
            Term(_("RMSNorm"),
                 _("LayerNorm without subtracting the mean: only the size is divided out.")),
            Term(_("NaN"),
                 _("“Not a number”, what 0/0 gives; a single one spoils whatever is computed from it.")),
        ],
        "03_mlp": [
            Term(_("MLP"),
                 _("The small network of a block: wide, an activation, narrow again, at each position by "
                   "itself.")),
            Term(_("feed-forward network"),
                 _("Another name for the MLP.")),
            Term(_("GELU, ReLU"),
                 _("Two activations: ReLU cuts off what is below zero, GELU weighs it softly.")),
            Term(_("neuron"),
                 _("One component of the wide list inside the MLP.")),
            Term(_("least squares"),
                 _("A method that makes the sum of the squared errors as small as it can be.")),
        ],
        "04_self_attention": [
            Term(_("self-attention"),
                 _("Each position compares itself with others and mixes in what they pass on.")),
            Term(_("query, key, value"),
                 _("Three lists of a position, each made by its own table: what it looks for, what"
                    " it is found by, what it passes on.")),
            Term(_("score"),
                 _("The dot product of a query and a key, before softmax.")),
            Term(_("attention weight"),
                 _("The share of its attention that a position gives to another, after softmax.")),
            Term(_("context"),
                 _("The result of the fifth step: the values, mixed by the weights.")),
            Term(_("head"),
                 _("A part of attention with queries, keys and values of its own, D/H wide.")),
            Term(_("output matrix"),
                 _("Mixes the results of all heads into one list of width D.")),
        ],
        "05_causal_mask": [
            Term(_("causal mask"),
                 _("Lets each position see itself and what came before, never what comes after.")),
        ],
        "06_block": [
            Term(_("block"),
                 _("Norm, attention, sum, norm, MLP, sum: the unit that a decoder repeats.")),
            Term(_("residual stream"),
                 _("The lists that lie on the residual path at a place, all contributions so far in one "
                   "sum.")),
            Term(_("dropout"),
                 _("Sets numbers to zero at random while training, so that no part relies on a single "
                   "one.")),
        ],
        "06b_norm_placement": [
            Term(_("pre-norm, post-norm"),
                 _("Whether the norm stands before each part or behind each sum.")),
            Term(_("nat"),
                 _("The unit of the loss and of entropy when they are taken with the natural logarithm.")),
            Term(_("warm-up"),
                 _("The learning rate first grows for some steps to its full value.")),
            Term(_("Adam"),
                 _("An optimizer: it takes for each parameter a step of its own size.")),
        ],
        "07_embeddings": [
            Term(_("byte pair encoding (BPE)"),
                 _("Learns tokens by merging the most frequent pair of neighbours again and again.")),
            Term(_("merge"),
                 _("One such step: two pieces become one.")),
            Term(_("embedding"),
                 _("The list with which a token or a position enters the model.")),
            Term(_("token table"),
                 _("One learned row of width D for each token of the vocabulary.")),
            Term(_("position table"),
                 _("One row of width D for each position, learned or computed.")),
            Term(_("window"),
                 _("The last tokens of a text, as many as the position table has rows; the model sees no "
                   "others.")),
        ],
        "08_decoder": [
            Term(_("output head"),
                 _("The last linear layer: from a position's list to a logit for each token of the "
                   "vocabulary.")),
            Term(_("logit lens"),
                 _("Reads a list from the middle of the model with the output head, to see what it would "
                   "answer there.")),
            Term(_("floor of the grammar"),
                 _("The loss that no model can beat on average: what the grammar has drawn at random.")),
        ],
        "09_parameter_counting": [
            Term(_("rule of thumb"),
                 _("N ≈ VD + 12LD² + TD: about how many parameters a decoder has.")),
        ],
        "10_sampling": [
            Term(_("temperature"),
                 _("Divides the logits before softmax: below 1 the choice becomes narrower, above 1 "
                   "wider.")),
            Term(_("top-k"),
                 _("Keeps the k most probable tokens.")),
            Term(_("top-p"),
                 _("Keeps the fewest tokens, starting with the most probable, that together have "
                    "probability p.")),
            Term(_("entropy"),
                 _("How open a choice is: 0 if everything is settled, ln n if n tokens are equally"
                    " probable.")),
            Term(_("seed"),
                 _("The number that chance starts from: the same seed draws the same.")),
            Term(_("end token"),
                 _("The token that ends a text; when it is drawn, the loop stops.")),
        ],
        "11_training": [
            Term(_("overfitting"),
                 _("The loss falls on the training texts and rises on others.")),
            Term(_("induction head"),
                 _("A head that looks at what followed an earlier occurrence of the present token, and so "
                   "copies.")),
        ],
    }
    # fmt: on


def alphabetical(word: str) -> str:
    """How a word is ordered: ä beside a, capitals beside small letters."""
    return unicodedata.normalize("NFKD", word).casefold()


def page_link(notebook: str) -> str:
    """A link to a page of the book, named as the map names it."""
    return f"[{number_of(notebook)} · {title(notebook)}]({notebook}.ipynb)"


def glossary() -> Tables:
    """Every term with its meaning and the page that introduces it, in the order of the alphabet."""
    places = [(term, page) for page, introduced in terms().items() for term in introduced]
    places.sort(key=lambda place: alphabetical(place[0].word))
    rows = [(f"**{term.word}**", term.meaning, page_link(page)) for term, page in places]
    return Tables(table((_("Term"), _("Meaning"), _("Page")), *rows))


# ---- one meaning a word ----


def decisions() -> list[Term]:
    """Words that could mean two things, or two words for one: what the book has decided."""
    # fmt: off
    return [
        Term(_("V"),
             _("The size of the vocabulary, in shapes and in counts. Only next to Q and K does "
                   "V mean the table of values.")),
        Term(_("T"),
             _("The number of positions. As a superscript, in Kᵀ, it means transposed. The "
                   "temperature is called τ.")),
        Term(_("p"),
             _("Always a probability: of a token; in dropout, of a number being set to zero; in"
                   " top-p, what has to remain at least.")),
        Term(_("head"),
             _("A head of attention. The layer at the end is called the output head.")),
        Term(_("context"),
             _("What the fifth step of attention gives. How much text the model sees at once is"
                   " called the window.")),
        Term(_("window"),
             _("The last tokens of a text that the model sees. The mask that allows only a few "
                   "looks back is called the window mask.")),
        Term(_("hidden"),
             _("A score behind the mask. What is inside the MLP is called a neuron.")),
        Term(_("direct path, residual path, stream"),
             _("The direct path is the x in x + f(x), around one part. All of them in a row are"
                   " the residual path. The lists on it are the stream. The chapter also says “way "
                   "of addition”.")),
        Term(_("weight"),
             _("In attention, a share after softmax. Otherwise a learned number: an entry in a "
                   "weight table.")),
        Term(_("matrix, weight table"),
             _("A matrix is any table of numbers that something is multiplied by. One that is "
                   "learned is called a weight table.")),
        Term(_("spread"),
             _("How far apart numbers lie, in everyday words. Where a figure is given, it is "
                   "the standard deviation.")),
        Term(_("starting weights"),
             _("The random weights before the first step.")),
        Term(_("tied"),
             _("Used jointly, as the table shared by input and output head. Division is written"
                   " “divided by”.")),
    ]
    # fmt: on


def meanings() -> Tables:
    """What the book means by words that could mean two things."""
    rows = [(f"**{term.word}**", term.meaning) for term in decisions()]
    return Tables(table((_("Word or sign"), _("In this book")), *rows))


# ---- the works ----


def cited(work: Work) -> str:
    """A work as a text cites it: "Press and Wolf, 2017"."""
    family = names(work)
    pair = len(family) == 2 and family[1] != "et al."
    by = _("{one} and {other}").format(one=family[0], other=family[1]) if pair else " ".join(family)
    return f"{by}, {work.year}"


def entry(work: Work) -> str:
    """A work in the list: a heading that links lead to, then who, what and where."""
    authors = ", ".join(work.authors) + (_(" and others") if work.others else "")
    at = work.link.removeprefix("https://").removesuffix(".html").replace("arxiv.org/abs/", "arXiv:")
    where = f" [{at}]({work.link})" if work.link else ""
    venue = "" if work.venue == "arXiv" else f" {work.venue}."
    return f"### {cited(work)}\n\n{authors}: *{work.title}.*{venue}{where}"


def works() -> Tables:
    """Every work that the book cites, in the order of its authors."""
    return Tables("\n\n".join(entry(work) for work in in_order(WORKS)))
