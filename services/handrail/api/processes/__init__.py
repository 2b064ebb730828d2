"""Domain `processes` of the control plane."""
