"""A failure that may have passed by the next try."""


class TransientError(ConnectionError):
    """A server was not reached, did not answer in time, or said that it is busy."""
