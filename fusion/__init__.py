"""Fusion of rankings, reranking and cited answers."""
