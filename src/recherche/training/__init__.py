"""Training: a plan, a loop, a checkpoint. Returns rows, prints nothing."""
