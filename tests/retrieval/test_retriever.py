import subprocess
import sys

from recherche.retrieval import TEXT_LIMITS, Fold, Limits, Paper, Retriever, Standard, Status
from recherche.vocab import Vocab


def test_contexts_follow_the_retriever():
    retriever = Retriever(mode=Paper(), limits=Limits(groups=2))
    assert retriever.context(["a"]).mode == Paper()
    assert retriever.context(["a"]).limits == Limits(groups=2)
    assert Retriever().mode == Standard()


def test_contexts_of_one_vocabulary_share_its_lexicon_and_others_do_not():
    retriever, vocab = Retriever(), Vocab(("a", "b"))
    assert retriever.context([0], vocab)._lexicon is retriever.context([1], vocab)._lexicon
    assert retriever.context(["a"])._lexicon is not retriever.context(["a"])._lexicon
    assert retriever.context([0], Vocab(("b", "a"))).text == "b"


def test_texts_follow_the_retriever():
    assert Retriever(mode=Paper()).text().mode == Paper()
    assert Retriever().text().limits == TEXT_LIMITS
    assert Retriever(limits=Limits(groups=2)).text().limits == Limits(groups=2)
    assert Retriever().text("É", fold=Fold(case="ignore")).literal("é").text == "É"


def test_the_rules_of_the_paper_ask_for_the_first_group():
    text = "b"
    assert Retriever().text(text).search("(a)|(b)").text == "b"
    assert Retriever(mode=Paper()).text(text).search("(a)|(b)").status is Status.UNSET_GROUP


def test_searching_loads_neither_torch_nor_a_compiler():
    code = "import sys, recherche.retrieval; print(sorted({'torch', 'numba', 'transformers'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
