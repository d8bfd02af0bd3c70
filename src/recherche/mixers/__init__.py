"""The sequence mixers by name: each entry is the layer config that builds it."""

from types import MappingProxyType

from recherche.mixers.attention import AttentionLayer
from recherche.mixers.base import LayerConfig
from recherche.mixers.delta_net import DeltaNetLayer, GatedDeltaNetLayer
from recherche.mixers.gated_linear_attention import GatedLinearAttentionLayer
from recherche.mixers.gated_rnn import GRULayer, LSTMLayer
from recherche.mixers.linear_attention import LinearAttentionLayer
from recherche.mixers.linear_rnn import DenseRNNLayer, DiagonalRNNLayer
from recherche.mixers.mamba2 import Mamba2Layer
from recherche.mixers.mlstm import MLSTMLayer
from recherche.mixers.retention import RetentionLayer
from recherche.mixers.rwkv import RWKVLayer
from recherche.mixers.selective_ssm import MambaLayer
from recherche.mixers.sliding_window import SlidingWindowLayer
from recherche.mixers.tova import TOVALayer

MIXERS: MappingProxyType[str, type[LayerConfig]] = MappingProxyType(
    {
        "attention": AttentionLayer,
        "sliding-window": SlidingWindowLayer,
        "tova": TOVALayer,
        "linear-attention": LinearAttentionLayer,
        "retention": RetentionLayer,
        "gla": GatedLinearAttentionLayer,
        "rwkv6": RWKVLayer,
        "mlstm": MLSTMLayer,
        "mamba": MambaLayer,
        "mamba2": Mamba2Layer,
        "deltanet": DeltaNetLayer,
        "gated-deltanet": GatedDeltaNetLayer,
        "linear-rnn": DiagonalRNNLayer,
        "dense-linear-rnn": DenseRNNLayer,
        "lstm": LSTMLayer,
        "gru": GRULayer,
    }
)
