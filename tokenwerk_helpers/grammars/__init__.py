"""How each language tells a story: its words and its sentences, one file a language; see `corpus`."""
