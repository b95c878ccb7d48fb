"""The page of `explain()`: one self-contained piece of HTML with drawings, without scripts."""
