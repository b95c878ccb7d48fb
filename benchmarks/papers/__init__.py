"""The tables and figures of the papers that can be had here: `make bench ARGS="papers"`."""
