"""What only a maintainer runs: the training of the shipped model, recordings, stored outputs, catalogues."""
