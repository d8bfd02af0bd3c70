r"""The correct pattern for each query, and back: a pattern that is literally a template's text names its query.

Text is tokens joined by one space; T stands for `([^ ]+)`. `q (T) [^ ]` reads "T and at least one more token", so that
the answer lies before the query's own copy of q.

    Index(k)          ^(?:T ){k-1}(T) [^ ]
    AR(q)             (?:^| )q (T) [^ ]                 last: (?s)^(?:.* )?q (T) [^ ]
    CGram(q1 .. qm)   (?:^| )q1 .. qm (T)(?: T){m}
    Count(v, k)       ^(?:(?:T )*?v ){k}(?:T )*?(v) T [^ ]
    Parent(c)         (?:^| )(T) - c(?: |$)
    FirstEdge(v)      (?:^| )(?:(T) ~ v|v ~ (T))(?: |$)
    NextEdge(v, a)    (?s)(?:^| )(?:a ~ v|v ~ a) (?:.*? )??(?:(T) ~ v|v ~ (T))(?: |$)
    LastWrite(p)      (?s)^(?:.* )?p = (T) ;(?: |$)

No look-around and no back-reference; the class `[^ ]` and the space are spelled out, because `\s`, `\S` and `\b` split
tokens and differ between engines. The patterns printed in the paper do not do this; `tests/retrieval/data` lists how.

Reference: Wen, Dang & Lyu (2024), Appendix C.4-C.5 and C.8, https://arxiv.org/abs/2402.18510
"""

import re

from recherche.queries import AR, CGram, Count, FirstEdge, Index, LastWrite, NextEdge, Parent, Query

TOKEN = "[^ ]+"
_SPECIAL = re.compile(r"[\\.^$*+?{}\[\]|()]")
_ESCAPED = re.compile(r"\\([\\.^$*+?{}\[\]|()])")


def escape(token: str) -> str:
    r"""The pattern text that matches `token` and nothing else.

    >>> escape("f(x)")
    'f\\(x\\)'
    """
    return _SPECIAL.sub(r"\\\g<0>", token)


def render(query: Query) -> str:
    """The pattern whose first participating group is the answer to `query`.

    >>> render(AR("7"))
    '(?:^| )7 ([^ ]+) [^ ]'
    """
    match query:
        case Index(position):
            return f"^(?:{TOKEN} ){{{position - 1}}}({TOKEN}) [^ ]"
        case AR(key, "first"):
            return f"(?:^| ){escape(key)} ({TOKEN}) [^ ]"
        case AR(key, _):
            return f"(?s)^(?:.* )?{escape(key)} ({TOKEN}) [^ ]"
        case CGram(prefix):
            return f"(?:^| ){' '.join(map(escape, prefix))} ({TOKEN})(?: {TOKEN}){{{len(prefix)}}}"
        case Count(value, threshold):
            v = escape(value)
            return f"^(?:(?:{TOKEN} )*?{v} ){{{threshold}}}(?:{TOKEN} )*?({v}) {TOKEN} [^ ]"
        case Parent(child):
            return f"(?:^| )({TOKEN}) - {escape(child)}(?: |$)"
        case FirstEdge(vertex):
            return f"(?:^| ){_edge_at(escape(vertex))}(?: |$)"
        case NextEdge(vertex, after):
            v, a = escape(vertex), escape(after)
            return f"(?s)(?:^| )(?:{a} ~ {v}|{v} ~ {a}) (?:.*? )??{_edge_at(v)}(?: |$)"
        case LastWrite(pointer):
            return f"(?s)^(?:.* )?{escape(pointer)} = ({TOKEN}) ;(?: |$)"


def _edge_at(vertex: str) -> str:
    return f"(?:({TOKEN}) ~ {vertex}|{vertex} ~ ({TOKEN}))"


def _shape(template: str) -> re.Pattern[str]:
    """The expression that recognises a template; `<name>` in it stands for one escaped token, `<n>` for a number."""
    literal = r"(?:[^ \n\\.^$*+?{}\[\]|()]|\\[\\.^$*+?{}\[\]|()])+"
    holes = {"q": literal, "a": literal, "n": r"(?:0|[1-9][0-9]{0,8})", "gram": f"{literal}(?: {literal})*"}
    seen: set[str] = set()

    def hole(found: re.Match[str]) -> str:
        name = found[1]
        if name in seen:
            return f"(?P={name})"
        seen.add(name)
        return f"(?P<{name}>{holes[name]})"

    escaped = re.escape(template.replace("T", TOKEN))
    return re.compile(re.sub(r"<(q|a|n|gram)>", hole, escaped))


def _unescape(text: str) -> str:
    return _ESCAPED.sub(r"\1", text) if "\\" in text else text


_EDGE = "(?:(T) ~ <q>|<q> ~ (T))(?: |$)"
_NEXT_EDGE = _shape("(?s)(?:^| )(?:<a> ~ <q>|<q> ~ <a>) (?:.*? )??" + _EDGE)
_FIRST_EDGE = _shape("(?:^| )" + _EDGE)
_PARENT = _shape("(?:^| )(T) - <q>(?: |$)")
_AR_FIRST = _shape("(?:^| )<q> (T) [^ ]")
_CGRAM = _shape("(?:^| )<gram> (T)(?: T){<n>}")
_AR_LAST = _shape("(?s)^(?:.* )?<q> (T) [^ ]")
_LAST_WRITE = _shape("(?s)^(?:.* )?<q> = (T) ;(?: |$)")
_COUNT = _shape("^(?:(?:T )*?<q> ){<n>}(?:T )*?(<q>) T [^ ]")
_INDEX = _shape("^(?:T ){<n>}(T) [^ ]")


def read(pattern: str) -> Query | None:
    """The query whose template's text `pattern` is, or None.

    >>> read("(?:^| )7 ([^ ]+) [^ ]")
    AR(key='7', select='first')
    """
    if pattern.startswith("(?:^| )"):
        return _read_first(pattern)
    if pattern.startswith("(?s)"):
        return _read_with_dot(pattern)
    if pattern.startswith("^(?:"):
        return _read_from_start(pattern)
    return None


def _read_first(pattern: str) -> Query | None:
    if found := _AR_FIRST.fullmatch(pattern):
        return AR(_unescape(found["q"]))
    if found := _PARENT.fullmatch(pattern):
        return Parent(_unescape(found["q"]))
    if found := _FIRST_EDGE.fullmatch(pattern):
        return FirstEdge(_unescape(found["q"]))
    if found := _CGRAM.fullmatch(pattern):
        prefix = tuple(_unescape(token) for token in found["gram"].split(" "))
        if int(found["n"]) == len(prefix):
            return CGram(prefix)
    return None


def _read_with_dot(pattern: str) -> Query | None:
    if found := _NEXT_EDGE.fullmatch(pattern):
        return NextEdge(vertex=_unescape(found["q"]), after=_unescape(found["a"]))
    if found := _LAST_WRITE.fullmatch(pattern):
        return LastWrite(_unescape(found["q"]))
    if found := _AR_LAST.fullmatch(pattern):
        return AR(_unescape(found["q"]), "last")
    return None


def _read_from_start(pattern: str) -> Query | None:
    if found := _INDEX.fullmatch(pattern):
        return Index(int(found["n"]) + 1)
    if found := _COUNT.fullmatch(pattern):
        return Count(_unescape(found["q"]), int(found["n"]))
    return None
