"""Sizes of a matrix in page pixels, the same on the canvas (matrix.js) and in its still (matrix_still.py)."""

PADDING = 8
GAP = 14  # between panels
TITLE_SIZE, LABEL_SIZE, SMALL_LABEL_SIZE = 13, 12, 10
PRINT_SIZE, SMALLEST_PRINT = 11.5, 9.0
SMALLEST_CELL = 3
LABELLED_CELL = 13  # from here on each row and column has room for its label
STRETCH = 1.3  # how far the height may be exceeded for that
GRID_FROM = 9  # cells below this many pixels touch, larger ones are ruled
CAPTION_LINE = 16
FLAT_LABELS = 26  # column labels no wider than this lie flat, thinned if need be
LONGEST_LABEL, LONGEST_SHARED_LABEL = 120, 80  # of one panel, of several
BAR_WIDTH, BAR_HEIGHT = 110, 9
