"""Reprise: a desktop chat window for language models in which no turn is ever lost."""

__version__ = "0.1.0"
