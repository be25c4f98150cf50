"""Words out of raw bytes: the tokeniser, its Unicode table, n-grams, vocabularies, and the kernels that count them."""
