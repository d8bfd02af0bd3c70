"""Which stage an operation goes to, for each layout."""

import pytest

from recherche.constructions.layout import Hybrid, LinearRNN, Transformer, stage_for
from recherche.errors import CertificateError


@pytest.mark.parametrize(
    ("layout", "kind", "ready", "stage"),
    [
        pytest.param(Transformer(), "attention", 0, 1, id="attention reads the embedding"),
        pytest.param(Transformer(), "attention", 2, 3, id="attention after a feed-forward"),
        pytest.param(Transformer(), "attention", 3, 5, id="attention after attention"),
        pytest.param(Transformer(), "feed-forward", 3, 4, id="feed-forward sees its layer's mixer"),
        pytest.param(LinearRNN(), "linear", 4, 5, id="linear unit after a feed-forward"),
        pytest.param(Hybrid(recurrent=2), "attention", 0, 5, id="a hybrid's attention waits for its layer"),
        pytest.param(Hybrid(recurrent=2), "linear", 2, 3, id="a hybrid's second linear unit"),
        pytest.param(Hybrid(recurrent=2), "feed-forward", 5, 6, id="a hybrid's last feed-forward"),
    ],
)
def test_an_operation_goes_to_the_first_stage_that_can_hold_it(layout, kind, ready, stage):
    assert stage_for(layout, kind, ready=ready, what="x") == stage


@pytest.mark.parametrize(
    ("layout", "kind", "ready"),
    [
        pytest.param(Transformer(), "linear", 0, id="no linear unit in a Transformer"),
        pytest.param(LinearRNN(), "attention", 0, id="no attention in an RNN"),
        pytest.param(Hybrid(recurrent=2), "attention", 5, id="no second attention in a hybrid"),
        pytest.param(Hybrid(recurrent=1), "linear", 2, id="no linear unit after a hybrid's attention"),
        pytest.param(Hybrid(recurrent=1), "feed-forward", 4, id="nothing after the last layer"),
    ],
)
def test_what_a_layout_does_not_have_is_refused_with_the_reason(layout, kind, ready):
    with pytest.raises(CertificateError, match=f"answer needs {kind} after stage {ready}"):
        stage_for(layout, kind, ready=ready, what="answer")
