"""Domain `accounts` of the control plane."""
