"""What deciding hands to emitting: a plan for every group, and the schedule of all of them."""
