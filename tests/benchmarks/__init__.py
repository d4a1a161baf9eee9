"""Measurements, run by hand or with `make benchmark`; no test among them, so pytest leaves them alone."""
