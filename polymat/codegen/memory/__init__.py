"""Where arrays live: with the caller, in the workspace of a call, with each thread."""
