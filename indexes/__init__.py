"""Domain indexes: the schema, embeddings, vector store and keyword index of each domain."""
