"""The checked pipeline: stages, their graph, its simplification and its interpreter."""
