"""A search index in an OpenSearch collection, treated as what gives candidates and no more."""
