"""What a page works out by hand, in its prose, is what comes out."""

import math
import re
from functools import cache

import nbformat
import numpy as np
import torch
import torch.nn.functional as F

from tokenwerk_helpers.chapters.embeddings import sine_table
from tokenwerk_helpers.chapters.self_attention import computation
from tokenwerk_helpers.tools.refresh import NOTEBOOKS


@cache
def prose(page: str) -> str:
    cells = nbformat.read(NOTEBOOKS / f"{page}.ipynb", as_version=4).cells
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def row(page: str, first: str) -> list[float]:
    """The last number of each cell in the table row that begins so."""
    (line,) = re.findall(rf"^\| {re.escape(first)}[^|]*\|(.*)\|$", prose(page), re.MULTILINE)
    return [float(re.findall(r"-?\d+(?:\.\d+)?", cell)[-1]) for cell in line.split("|")]


def test_the_linear_layer_of_03():
    rows = re.findall(r"^\| \$\[(.+?)\]\$ \| \$.* = (.+?)\$ \| \$.* = (.+?)\$ \|$", prose("03_mlp"), re.MULTILINE)
    W = np.array([[float(number) for number in weights.split(",")] for weights, _, _ in rows])
    assert [float(product) for _, product, _ in rows] == (W @ [3, -1]).tolist() == [3, -2, 2]
    layer = F.linear(torch.tensor([3.0, -1.0]), torch.tensor(W, dtype=torch.float32), torch.tensor([0.0, 1.0, -1.0]))
    assert [float(out) for _, _, out in rows] == layer.tolist()


def test_the_attention_of_two_tokens_in_04():
    page = "04_self_attention"
    q, k, v = ([1, 1], [0, 0]), ([1, 1], [1, -1]), ([10, 0], [0, 10])
    reference = F.scaled_dot_product_attention(*(torch.tensor([m], dtype=torch.float64) for m in (q, k, v)))[0]
    assert torch.allclose(reference, torch.tensor(computation.context_by_hand(), dtype=torch.float64))
    scores = [2 / math.sqrt(2), 0]
    powers = [math.exp(score) for score in scores]
    weights = [power / sum(powers) for power in powers]
    assert row(page, "Score: Query mal Key") == [2, 0]
    assert row(page, "geteilt durch") == [round(score, 3) for score in scores]
    assert row(page, "$e$ hoch das") == [round(power, 3) for power in powers]
    assert row(page, "Gewicht: geteilt") == [round(weight, 3) for weight in weights]
    assert f"geteilt durch die Summe {sum(powers):.3f} " in prose(page)
    assert f"[{reference[0, 0]:.2f}, {reference[0, 1]:.2f}]$, ist der neue Kontext" in prose(page)


def test_the_softmax_of_three_numbers_in_04():
    shares = torch.tensor([2.0, 1.0, 0.0]).softmax(0)
    text = ", ".join(f"{share:.3f}" for share in shares)
    assert f"Aus $[2, 1, 0]$ wird so $[{text}]$" in prose("04_self_attention")


def test_the_slopes_of_softmax_in_04():
    said = re.findall(r"bei \$p = (.+?)\$ (?:also|nur) \$(.+?)\$", prose("04_self_attention"))
    (p, slope), (q, small) = [map(float, pair) for pair in said]
    assert (slope, small) == (p * (1 - p), round(q * (1 - q), 2)) == (0.25, 0.01)


def test_only_the_distance_counts_for_the_sine_codes_of_07():
    table = sine_table(64, 8).double()
    products = table @ table.T  # (T, T)
    for distance in range(64):
        along = torch.diagonal(products, distance)
        expected = sum(math.cos(distance / 10000 ** (2 * i / 8)) for i in range(4))
        assert torch.allclose(along, torch.full_like(along, expected), atol=1e-5)


def test_the_entropies_of_10():
    said = re.findall(r"\\ln (\d+) \\approx ([\d.]+)", prose("10_sampling"))
    assert {int(n) for n, _value in said} == {2, 10}
    for n, value in said:
        alike = torch.distributions.Categorical(torch.ones(int(n), dtype=torch.float64))
        assert f"{alike.entropy():.{len(value.partition('.')[2])}f}" == value


def test_the_surprises_of_08():
    said = re.findall(r"für \$p = ([\d.]+)\$ sind es ([\d.]+), für \$p = ([\d.]+)\$ schon ([\d.]+)\.", prose("08_decoder"))
    half, loss, tenth, more = map(float, said[0])
    assert (loss, more) == (round(-math.log(half), 2), round(-math.log(tenth), 1))
