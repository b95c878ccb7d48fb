"""Loop order, tile sizes and predicted time of a group."""
