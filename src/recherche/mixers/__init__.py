"""The sequence mixers by name: `MIXERS` is the table of the layer configs that build them.

To add one is to add a line: the table is made of the layers that are imported here.
"""

from recherche._lookup import Registry
from recherche.mixers.attention import AttentionLayer as AttentionLayer
from recherche.mixers.base import LayerConfig as LayerConfig
from recherche.mixers.delta_net import DeltaNetLayer as DeltaNetLayer
from recherche.mixers.delta_net import GatedDeltaNetLayer as GatedDeltaNetLayer
from recherche.mixers.gated_linear_attention import GatedLinearAttentionLayer as GatedLinearAttentionLayer
from recherche.mixers.gated_rnn import GRULayer as GRULayer
from recherche.mixers.gated_rnn import LSTMLayer as LSTMLayer
from recherche.mixers.linear_attention import LinearAttentionLayer as LinearAttentionLayer
from recherche.mixers.linear_rnn import DenseRNNLayer as DenseRNNLayer
from recherche.mixers.linear_rnn import DiagonalRNNLayer as DiagonalRNNLayer
from recherche.mixers.mamba2 import Mamba2Layer as Mamba2Layer
from recherche.mixers.mlstm import MLSTMLayer as MLSTMLayer
from recherche.mixers.retention import RetentionLayer as RetentionLayer
from recherche.mixers.rwkv import RWKVLayer as RWKVLayer
from recherche.mixers.selective_ssm import MambaLayer as MambaLayer
from recherche.mixers.sliding_window import SlidingWindowLayer as SlidingWindowLayer
from recherche.mixers.tova import TOVALayer as TOVALayer

MIXERS: Registry[LayerConfig] = Registry(
    tuple(globals().values()), LayerConfig, key=lambda layer: layer.model_fields["mixer"].default, what="mixer"
)
"""Every layer config that is imported above by its mixer; one's own as `package.module:Class`."""
