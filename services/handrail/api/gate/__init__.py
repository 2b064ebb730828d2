"""Domain `gate` of the control plane."""
