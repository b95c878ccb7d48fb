"""Filter pipelines: a hum and noise removed, a stadium's horns removed, a filter bank.

`programs` has their filters, `polymat_versions` and `scipy_versions` the pipelines.
"""
