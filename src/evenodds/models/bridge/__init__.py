"""Logistic regression on top of naive Bayes: the value, how it is fitted, explained and stored, and its shell."""
