"""The one error for data: what is wrong, where, and what to do."""


class DataError(ValueError):
    """The data cannot be used as they are; the message says which column or row, and what to do."""
