"""Tables and pictures from the records of runs: README's, and those of the site."""
