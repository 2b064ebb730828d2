"""Domain `tools` of the control plane."""
