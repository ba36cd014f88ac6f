"""Typed configuration and the packaged profiles."""
