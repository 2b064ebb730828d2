"""Domain `files` of the control plane."""
