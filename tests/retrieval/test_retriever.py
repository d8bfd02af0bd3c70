import subprocess
import sys

from recherche.retrieval import Limits, Paper, Retriever, Standard
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


def test_searching_loads_neither_torch_nor_a_compiler():
    code = "import sys, recherche.retrieval; print(sorted({'torch', 'numba', 'transformers'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
