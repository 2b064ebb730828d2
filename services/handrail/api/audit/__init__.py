"""Domain `audit` of the control plane."""
