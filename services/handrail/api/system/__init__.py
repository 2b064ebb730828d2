"""Domain `system` of the control plane."""
