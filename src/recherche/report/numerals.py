"""Numbers as text; none is rounded up to a whole that it does not reach.

>>> percent(0.9984), percent(0.99996), percent(1.0)
('99.8 %', '99.9 %', '100 %')
>>> decimal(0.8584), decimal(0.99996), decimal(1.0)
('0.858', '0.999', '1.000')
>>> short_number(1_234_567), short_number(73_728), short_number(512), short_number(None)
('1.23M', '73.7k', '512', '–')
>>> duration(4000), duration(75), duration(9)
('1 h 6 min', '1 min 15 s', '9 s')
"""

NONE = "–"


def percent(share: float | int) -> str:
    """A share with one decimal."""
    return "100 %" if share == 1 else f"{min(100 * share, 99.9):.1f} %"


def decimal(share: float | int) -> str:
    """A share with three decimals."""
    return f"{share if share == 1 else min(share, 0.999):.3f}"


def short_number(value: float | int | None) -> str:
    """A count with three digits and a suffix."""
    if value is None:
        return NONE
    for limit, suffix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= limit:
            return f"{value / limit:.3g}{suffix}"
    return f"{value:.0f}"


def duration(seconds: float | int | None) -> str:
    """A time in its two leading units."""
    if seconds is None:
        return NONE
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
