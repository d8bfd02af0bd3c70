"""Rows of arrays for the innermost loops of compiled functions: a place in memory and nothing else.

A view of an array costs two atomic counts of its owner each time that it is made, and an index a look at its sign;
around a loop of a hundred channels they cost as much as the loop. A row knows neither its length nor its owner: the
array must live as long as the row is used, as arguments do, and arrays made before the loop that uses their rows.
"""

from typing import Any

import numpy as np
from jaxtyping import Float
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

Row = Float[np.ndarray, " width"]
"""What a row stands for; compiled code sees an address."""


@intrinsic
def row_at(typing_context: Any, array: Any, place: Any) -> Any:
    """The last axis of `array` at `place`, a tuple with an index, not negative, for each axis before it."""
    if array.layout != "C" or len(place) != array.ndim - 1:
        raise TypingError(
            f"A row needs a contiguous array and an index for each axis but the last, not {array}, {place}."
        )

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array_type, place_type = signature.args
        whole = context.make_array(array_type)(context, builder, arguments[0])
        indices = [
            context.cast(builder, index, index_type, types.intp)
            for index, index_type in zip(cgutils.unpack_tuple(builder, arguments[1]), place_type, strict=True)
        ]
        return cgutils.get_item_pointer(
            context, builder, array_type, whole, [*indices, context.get_constant(types.intp, 0)]
        )

    return types.CPointer(array.dtype)(array, place), generate
