"""Lines between classes: whether there is one, the widest, and the one a perceptron walks to."""
