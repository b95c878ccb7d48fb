"""What the papers' models say of a loop nest: reuse, footprints, data movement, working sets, costs."""
