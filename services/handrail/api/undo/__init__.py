"""Domain `undo` of the control plane: what tools changed, and the way back."""
