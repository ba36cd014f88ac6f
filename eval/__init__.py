"""Retrieval evaluation: data sets, metrics, reports."""
