"""The drawn decoder at the head of a page: what it lights up is what the page speaks of."""

from tokenwerk_helpers.chapters import book
from tokenwerk_helpers.model import Block, Config
from tokenwerk_helpers.parameters import PART_OF

# Names of modules -> names of drawn parts, where they differ.
DRAWN = {
    "token_embedding": "embedding", "position_embedding": "embedding", "attn": "attention",
    "after_attention": "residual", "after_mlp": "residual",
}  # fmt: skip


def drawn(modules) -> set[str]:
    return {DRAWN.get(module, module) for module in modules}


def lit(notebook: str) -> set[str]:
    return set(book.CHAPTERS[notebook].lit)


def test_the_page_on_norms_lights_every_norm_up():
    assert lit("02_normalization") == {part for part, label in book.labels().items() if "Norm" in label}


def test_the_page_on_the_block_lights_all_its_parts_up():
    block = Block(Config(vocab_size=4, context_length=4, width=4, heads=1, blocks=1))
    assert lit("06_block") == {"block"} | drawn(name for name, _module in block.named_children())


def test_the_page_that_counts_parameters_lights_up_what_holds_some():
    assert lit("09_parameter_counting") == drawn(PART_OF)


def test_each_drawn_part_is_lit_by_a_page_of_its_own():
    pages = {name: lit(name) - {"all"} for name in book.CHAPTERS}
    assert book.labels().keys() - {"path"} <= set().union(*pages.values())
