"""The few errors users meet, each named by what the caller does next.

Every message is one line: what is wrong, then the remedy.
"""


class PolicyFusionError(Exception):
    """Base of every error this project raises on purpose; ``str(error)`` is one line."""


class ConfigError(PolicyFusionError):
    """Fix the configuration: the message names the file and the key."""


class InputError(PolicyFusionError):
    """Fix the argument, question or file that was passed."""


class ModelMissingError(PolicyFusionError):
    """Install or build the model that the message names."""


class StoreBusyError(PolicyFusionError):
    """Wait and try again: another process is writing to the store."""


class StoreMismatchError(PolicyFusionError):
    """Ingest again (or use the old model): the store was built with other settings."""


class SourceUnavailableError(PolicyFusionError):
    """Retry, or allow partial results: a knowledge domain could not be consulted."""
