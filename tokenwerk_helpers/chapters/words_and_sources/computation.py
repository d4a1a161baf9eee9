"""The works that the book cites, and how they are named in a text and ordered in a list."""

from collections.abc import Iterable
from typing import NamedTuple


class Work(NamedTuple):
    """A published work, without words of any language."""

    authors: tuple[str, ...]
    year: int
    title: str
    venue: str
    link: str = ""  # none where none is certain
    others: bool = False  # are there more authors than are named?


ARXIV, OPENAI = "https://arxiv.org/abs/", "https://cdn.openai.com/"

# fmt: off
WORKS = (
    Work(("Joshua Ainslie", "James Lee-Thorp", "Michiel de Jong", "Yury Zemlyanskiy", "Federico Lebrón",
          "Sumit Sanghai"),
         2023, "GQA: Training Generalized Multi-Query Transformer Models from Multi-Head Checkpoints",
         "EMNLP 2023", f"{ARXIV}2305.13245"),
    Work(("Jimmy Lei Ba", "Jamie Ryan Kiros", "Geoffrey E. Hinton"),
         2016, "Layer Normalization",
         "arXiv", f"{ARXIV}1607.06450"),
    Work(("Iz Beltagy", "Matthew E. Peters", "Arman Cohan"),
         2020, "Longformer: The Long-Document Transformer",
         "arXiv", f"{ARXIV}2004.05150"),
    Work(("Shaked Brody", "Uri Alon", "Eran Yahav"),
         2023, "On the Expressivity Role of LayerNorm in Transformers’ Attention",
         "Findings of ACL 2023", f"{ARXIV}2305.02582"),
    Work(("Tom B. Brown", "Benjamin Mann", "Nick Ryder"),
         2020, "Language Models are Few-Shot Learners",
         "NeurIPS 2020", f"{ARXIV}2005.14165", others=True),
    Work(("Rewon Child", "Scott Gray", "Alec Radford", "Ilya Sutskever"),
         2019, "Generating Long Sequences with Sparse Transformers",
         "arXiv", f"{ARXIV}1904.10509"),
    Work(("Jacob Devlin", "Ming-Wei Chang", "Kenton Lee", "Kristina Toutanova"),
         2019, "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding",
         "NAACL 2019", f"{ARXIV}1810.04805"),
    Work(("Yihe Dong", "Jean-Baptiste Cordonnier", "Andreas Loukas"),
         2021, "Attention is Not All You Need: Pure Attention Loses Rank Doubly Exponentially with Depth",
         "ICML 2021", f"{ARXIV}2103.03404"),
    Work(("Nelson Elhage", "Neel Nanda", "Catherine Olsson"),
         2021, "A Mathematical Framework for Transformer Circuits",
         "Transformer Circuits Thread", "https://transformer-circuits.pub/2021/framework/index.html",
         others=True),
    Work(("Angela Fan", "Mike Lewis", "Yann Dauphin"),
         2018, "Hierarchical Neural Story Generation",
         "ACL 2018", f"{ARXIV}1805.04833"),
    Work(("Philip Gage",),
         1994, "A New Algorithm for Data Compression",
         "The C Users Journal 12 (2)"),
    Work(("Xavier Glorot", "Yoshua Bengio"),
         2010, "Understanding the difficulty of training deep feedforward neural networks",
         "AISTATS 2010", "https://proceedings.mlr.press/v9/glorot10a.html"),
    Work(("Adi Haviv", "Ori Ram", "Ofir Press", "Peter Izsak", "Omer Levy"),
         2022, "Transformer Language Models without Positional Encodings Still Learn Positional Information",
         "Findings of EMNLP 2022", f"{ARXIV}2203.16634"),
    Work(("Dan Hendrycks", "Kevin Gimpel"),
         2016, "Gaussian Error Linear Units (GELUs)",
         "arXiv", f"{ARXIV}1606.08415"),
    Work(("Ari Holtzman", "Jan Buys", "Li Du", "Maxwell Forbes", "Yejin Choi"),
         2020, "The Curious Case of Neural Text Degeneration",
         "ICLR 2020", f"{ARXIV}1904.09751"),
    Work(("Sergey Ioffe", "Christian Szegedy"),
         2015, "Batch Normalization: Accelerating Deep Network Training by Reducing Internal Covariate Shift",
         "ICML 2015", f"{ARXIV}1502.03167"),
    Work(("Diederik P. Kingma", "Jimmy Lei Ba"),
         2015, "Adam: A Method for Stochastic Optimization",
         "ICLR 2015", f"{ARXIV}1412.6980"),
    Work(("Liyuan Liu", "Xiaodong Liu", "Jianfeng Gao", "Weizhu Chen", "Jiawei Han"),
         2020, "Understanding the Difficulty of Training Transformers",
         "EMNLP 2020", f"{ARXIV}2004.08249"),
    Work(("Ilya Loshchilov", "Frank Hutter"),
         2019, "Decoupled Weight Decay Regularization",
         "ICLR 2019", f"{ARXIV}1711.05101"),
    Work(("Lorenzo Noci", "Sotiris Anagnostidis", "Luca Biggio", "Antonio Orvieto", "Sidak Pal Singh",
          "Aurelien Lucchi"),
         2022, "Signal Propagation in Transformers: Theoretical Perspectives and the Role of Rank Collapse",
         "NeurIPS 2022", f"{ARXIV}2206.03126"),
    Work(("nostalgebraist",),
         2020, "interpreting GPT: the logit lens",
         "LessWrong", "https://www.lesswrong.com/posts/AcKRB8wDpdaN6v6ru/interpreting-gpt-the-logit-lens"),
    Work(("Masataka Okabe", "Kei Ito"),
         2008, "Color Universal Design (CUD): How to make figures and presentations that are friendly to "
               "colorblind people",
         "JFly", "https://jfly.uni-koeln.de/color/"),
    Work(("Catherine Olsson", "Nelson Elhage", "Neel Nanda"),
         2022, "In-context Learning and Induction Heads",
         "Transformer Circuits Thread", f"{ARXIV}2209.11895", others=True),
    Work(("Ofir Press", "Lior Wolf"),
         2017, "Using the Output Embedding to Improve Language Models",
         "EACL 2017", f"{ARXIV}1608.05859"),
    Work(("Alec Radford", "Karthik Narasimhan", "Tim Salimans", "Ilya Sutskever"),
         2018, "Improving Language Understanding by Generative Pre-Training",
         "OpenAI", f"{OPENAI}research-covers/language-unsupervised/language_understanding_paper.pdf"),
    Work(("Alec Radford", "Jeffrey Wu", "Rewon Child", "David Luan", "Dario Amodei", "Ilya Sutskever"),
         2019, "Language Models are Unsupervised Multitask Learners",
         "OpenAI", f"{OPENAI}better-language-models/language_models_are_unsupervised_multitask_learners.pdf"),
    Work(("Colin Raffel", "Noam Shazeer", "Adam Roberts", "Katherine Lee", "Sharan Narang",
          "Michael Matena", "Yanqi Zhou", "Wei Li", "Peter J. Liu"),
         2020, "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer",
         "Journal of Machine Learning Research 21", f"{ARXIV}1910.10683"),
    Work(("Rico Sennrich", "Barry Haddow", "Alexandra Birch"),
         2016, "Neural Machine Translation of Rare Words with Subword Units",
         "ACL 2016", f"{ARXIV}1508.07909"),
    Work(("Noam Shazeer", "Azalia Mirhoseini", "Krzysztof Maziarz", "Andy Davis", "Quoc Le",
          "Geoffrey Hinton", "Jeff Dean"),
         2017, "Outrageously Large Neural Networks: The Sparsely-Gated Mixture-of-Experts Layer",
         "ICLR 2017", f"{ARXIV}1701.06538"),
    Work(("Noam Shazeer",),
         2020, "GLU Variants Improve Transformer",
         "arXiv", f"{ARXIV}2002.05202"),
    Work(("Jianlin Su", "Yu Lu", "Shengfeng Pan", "Ahmed Murtadha", "Bo Wen", "Yunfeng Liu"),
         2021, "RoFormer: Enhanced Transformer with Rotary Position Embedding",
         "arXiv", f"{ARXIV}2104.09864"),
    Work(("Hugo Touvron", "Thibaut Lavril", "Gautier Izacard"),
         2023, "LLaMA: Open and Efficient Foundation Language Models",
         "arXiv", f"{ARXIV}2302.13971", others=True),
    Work(("Ashish Vaswani", "Noam Shazeer", "Niki Parmar", "Jakob Uszkoreit", "Llion Jones",
          "Aidan N. Gomez", "Łukasz Kaiser", "Illia Polosukhin"),
         2017, "Attention Is All You Need",
         "NIPS 2017", f"{ARXIV}1706.03762"),
    Work(("Kevin Wang", "Alexandre Variengien", "Arthur Conmy", "Buck Shlegeris", "Jacob Steinhardt"),
         2023, "Interpretability in the Wild: a Circuit for Indirect Object Identification in GPT-2 Small",
         "ICLR 2023", f"{ARXIV}2211.00593"),
    Work(("Ruibin Xiong", "Yunchang Yang", "Di He", "Kai Zheng", "Shuxin Zheng", "Chen Xing",
          "Huishuai Zhang", "Yanyan Lan", "Liwei Wang", "Tie-Yan Liu"),
         2020, "On Layer Normalization in the Transformer Architecture",
         "ICML 2020", f"{ARXIV}2002.04745"),
    Work(("Biao Zhang", "Rico Sennrich"),
         2019, "Root Mean Square Layer Normalization",
         "NeurIPS 2019", f"{ARXIV}1910.07467"),
)
# fmt: on


def names(work: Work) -> list[str]:
    """The family names by which a text cites a work: one, two, or of more the first and "et al."."""
    family = [author.split()[-1] for author in work.authors]
    return family if len(family) < 3 else [family[0], "et al."]


def in_order(works: Iterable[Work]) -> list[Work]:
    """Works as a list of sources orders them: by their names, then by their year."""
    return sorted(works, key=lambda work: (" ".join(names(work)).casefold(), work.year))
