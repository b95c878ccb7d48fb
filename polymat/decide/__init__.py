"""How a pipeline is carried out: its groups, and the cheapest plan of each."""
