"""The exceptions that a caller can meet; each message says what was asked, what was found and what to do.

RechercheError
+-- ConfigError        a value, name or file that describes a run is wrong
+-- VocabError         a token that the vocabulary does not hold, or may not hold
+-- InputError         a user's own file (a graph, a machine, predictions) cannot be read as asked
+-- QueryError         a search that cannot be stated
+-- CheckpointError    weights or training state that are damaged, foreign or of another version
+-- CodecError         a text that a tokenizer cannot write, or a tokenizer that cannot be read
+-- StateError         a recurrent state of another model, batch or position
+-- CertificateError   a certificate or a construction that does not hold
"""


class RechercheError(Exception):
    """Root of all errors that the package raises on purpose."""


class ConfigError(RechercheError):
    """A value, name or file that describes a run is wrong."""


class VocabError(RechercheError):
    """A token that the vocabulary does not hold, or may not hold."""


class InputError(RechercheError):
    """A user's own file cannot be read as asked."""


class QueryError(RechercheError):
    """A search that cannot be stated."""


class CheckpointError(RechercheError):
    """Weights or training state that are damaged, foreign or of another version."""


class CodecError(RechercheError):
    """A text that a tokenizer cannot write exactly, or a tokenizer whose tokens cannot be read one by one."""


class StateError(RechercheError):
    """A recurrent state of another model, batch or position."""


class CertificateError(RechercheError):
    """A certificate or a construction that does not hold."""
